"""Checkpoints in cloud stores, with servers that other people wrote."""

import json
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import servers  # noqa: E402

CONTRACT = os.environ.get("AMDAHL_STORE_TEST", "")
CLI = os.environ.get("AMDAHL_CLI", "")
RUN_SECONDS = 300

# Saves steps for ever, with a line after each commit, until it is killed.
WRITER = """
import numpy, sys
from amdahl import checkpoint
saver = checkpoint.Checkpointer(sys.argv[1], job_uid="job-1", keepLast=3)
begin = saver.load()
step = begin.step if begin else 0
while step < int(sys.argv[2]):
    step += 1
    state = {"weights": numpy.full(3_000_000, step, dtype="float32"), "step": step}
    saver.save(state, step, patience=60)
    saver.wait(60)
    print(step, flush=True)
"""
READER = """
import json, sys
from amdahl import checkpoint
saver = checkpoint.Checkpointer(sys.argv[1], job_uid="job-1")
loaded = saver.load()
weights = loaded.state["weights"]
print(json.dumps({"step": loaded.step, "saved": loaded.state["step"],
                  "same": bool((weights == loaded.step).all()), "count": int(weights.size),
                  "bad": saver.verify(loaded.step)["bad"]}))
"""


class CloudStores:
    """The tests of one server; `server` is a context manager."""

    @classmethod
    def setUpClass(cls):
        servers.build.build_missing(servers.build.CLOUD_STORES)
        cls.server = cls.enterClassContext(cls.start_server())

    def env(self, **more) -> dict[str, str]:
        return {**os.environ, **self.server.variables, **more,
                "PYTHONPATH": str(servers.ROOT / "python")}

    def python(self, script: str, *words) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-c", script, *map(str, words)], env=self.env(),
                              capture_output=True, text=True, timeout=RUN_SECONDS)

    def cli(self, *words) -> str:
        done = subprocess.run([CLI, "checkpoint", *words], env=self.env(LD_PRELOAD=""),
                              capture_output=True, text=True, timeout=RUN_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_it_keeps_the_contract_of_every_store(self):
        done = subprocess.run(
            [CONTRACT, "store:*"], capture_output=True, text=True, timeout=RUN_SECONDS,
            env=self.env(LD_PRELOAD="", AMDAHL_TEST_STORES=f"{self.server.address}/contract"))
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-2000:])
        self.assertIn("in 5 test cases", done.stdout)  # the large object too

    def test_a_job_that_is_killed_goes_on_and_nothing_is_left_over(self):
        place = f"{self.server.address}/job"
        newest = 0
        for kill_after in (2, 1, 3):
            newest = self.killed(place, kill_after, newest)
        done = self.python(WRITER, place, newest + 3)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        found = json.loads(self.python(READER, place).stdout)
        self.assertEqual(found, {"step": newest + 3, "saved": newest + 3, "same": True,
                                 "count": 3_000_000, "bad": []})
        listed = [one["step"] for one in json.loads(self.cli("ls", place, "-o", "json"))]
        self.assertEqual(listed, [newest + 3, newest + 2, newest + 1])
        left = self.cli("gc", place, "--job-has-ended", "--dry-run")
        self.assertRegex(left, r"(?m)^Would remove 0 objects")

    def killed(self, place: str, commits: int, before: int) -> int:
        """A writer that is killed in the save after so many commits; the newest committed step."""
        writer = subprocess.Popen([sys.executable, "-c", WRITER, place, "1000"], env=self.env(),
                                  stdout=subprocess.PIPE, text=True)
        try:
            steps = [int(writer.stdout.readline()) for _ in range(commits)]
        finally:
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            writer.stdout.close()
        self.assertGreater(steps[0], before)
        found = json.loads(self.python(READER, place).stdout)
        self.assertGreaterEqual(found["step"], steps[-1])  # it may have finished one more
        self.assertTrue(found["same"])
        return found["step"]


@unittest.skipUnless(CONTRACT and CLI, "AMDAHL_STORE_TEST and AMDAHL_CLI are not set: use ctest")
class Gcs(CloudStores, unittest.TestCase):
    start_server = staticmethod(servers.gcs)


@unittest.skipUnless(CONTRACT and CLI, "AMDAHL_STORE_TEST and AMDAHL_CLI are not set: use ctest")
class S3(CloudStores, unittest.TestCase):
    start_server = staticmethod(servers.s3)


if __name__ == "__main__":
    unittest.main()
