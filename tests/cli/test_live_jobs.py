"""Jobs that really run: an embedded cluster with its operator, and trainers without torch."""

import atexit
import functools
import json
import sys
import time
import unittest
from datetime import datetime
from pathlib import Path

from job_cluster import SECONDS, Home, JobTest
from local_cli import ROOT

sys.path.append(str(ROOT / "tests" / "training_real"))

from checkpoint_case import LIBRARY, python_for_jobs  # noqa: E402

WAIT = 6 * SECONDS  # compiling machines are slow

JOB = """\
apiVersion: amdahl.dev/v1alpha1
kind: TrainingJob
metadata: {name: %(name)s}
spec:
  runtime: Python
  nodes: %(nodes)d
  template:
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: trainer
        image: none
        command: [%(python)s, -c, %(script)s]
        env:
        - {name: PYTHONPATH, value: %(package)s}
        - {name: AMDAHL_CHECKPOINT_LIBRARY, value: "%(library)s"}
  checkpoint: {%(uri)spause: {deadline: 1s, policy: BestEffort}}
  restart: {maxFailures: %(failures)d, backoff: 1s}
"""


class LiveHome(Home):
    def __init__(self):
        super().__init__()
        self.run("local", "up", "--in-memory", "--nodes", "2")


@functools.cache
def shared_home() -> LiveHome:
    home = LiveHome()
    atexit.register(home.close)
    return home


class LiveTest(JobTest):
    @classmethod
    def setUpClass(cls):
        cls.cluster = shared_home()

    def submit_script(self, name: str, script: str, nodes: int = 1, failures: int = 0,
                      checkpoints: Path | None = None) -> None:
        uri = f'uri: "file://{checkpoints}", ' if checkpoints else ""
        python = "/usr/bin/python3"
        if checkpoints:
            python = python_for_jobs(self.cluster.path, python)
        self.amdahl("submit", "-", text=JOB % {
            "name": name, "nodes": nodes, "failures": failures, "script": json.dumps(script),
            "python": python, "package": ROOT / "python", "library": LIBRARY, "uri": uri})

    def job(self, name: str) -> dict:
        return json.loads(self.amdahl("get", name, "-o", "json"))

    def wait_until(self, what: str, holds, seconds: float = WAIT):
        deadline = time.monotonic() + seconds
        while not (value := holds()):
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.05)
        return value

    def wait_for_log(self, name: str, text: str, *words: str) -> None:
        def said() -> bool:
            return text in self.cluster.run("logs", name, *words, check=False).stdout
        self.wait_until(f"{text!r} in the log of {name}", said)

    def wait_phase(self, name: str, phase: str) -> None:
        self.wait_until(f"{name} {phase}",
                        lambda: self.job(name).get("status", {}).get("phase") == phase)


class Logs(LiveTest):
    def pods(self, name: str) -> list[str]:
        found = json.loads(self.amdahl("get", "pods", "-l", f"amdahl.dev/job={name}", "-o", "json"))
        return [pod["metadata"]["name"] for pod in found["items"]]

    # promises: D9
    def test_a_paused_job_keeps_the_logs_of_its_last_three_attempts(self):
        self.submit_script("paused", "import os, time; print('attempt', "
                           "os.environ['AMDAHL_ATTEMPT'], flush=True); time.sleep(600)")
        for attempt in (1, 2, 3, 4):
            self.wait_for_log("paused", f"attempt {attempt}\n")
            self.amdahl("pause", "paused", "--wait")
            self.wait_until("no pods", lambda: not self.pods("paused"))
            self.assertIn(f"attempt {attempt}\n", self.amdahl("logs", "paused"))
            if attempt < 4:
                self.amdahl("resume", "paused", "--wait")
        for attempt in (2, 3, 4):
            self.assertIn(f"attempt {attempt}\n",
                          self.amdahl("logs", "paused", "--attempt", attempt, "--rank", "0"))
        self.assertIn("no pod and no kept log of attempt 1",
                      self.amdahl("logs", "paused", "--attempt", "1", code=1))
        self.amdahl("delete", "tj", "paused")
        kept = self.cluster.data / "kept-logs" / "default"
        self.wait_until("the logs are gone", lambda: not list(kept.glob("*/*/paused-*")))

    # promises: D9, D11
    def test_after_a_failure_every_rank_has_its_log(self):
        self.submit_script("broken", "import os, sys, time; rank = os.environ['PET_NODE_RANK']; "
                           "print('this is rank', rank, flush=True); "
                           "time.sleep(2); rank == '1' and sys.exit(3); time.sleep(600)", nodes=2)
        self.wait_phase("broken", "Failed")
        for rank in (0, 1):
            self.assertIn(f"this is rank {rank}\n",
                          self.amdahl("logs", "broken", "--attempt", "1", "--rank", rank))
        self.assertIn("this is rank 0\n", self.amdahl("logs", "broken", "--attempt", "1"))
        both = self.amdahl("logs", "broken", "--all-ranks")
        self.assertIn("[0] this is rank 0\n", both)
        self.assertIn("[1] this is rank 1\n", both)


class Progress(LiveTest):
    # promises: D11
    # fields: status.progress.lastStepAt
    def test_the_first_step_is_shown_at_once(self):
        told, ready = self.cluster.path / "go", self.cluster.path / "stepped"
        self.submit_script("quick", (
            "import os, sys, time; from amdahl import job\n"
            f"while not os.path.exists({str(told)!r}): time.sleep(0.05)\n"
            f"job.step(1, 1000); open({str(ready)!r}, 'w')\n"
            "time.sleep(600)"))
        self.wait_phase("quick", "Running")
        told.touch()
        self.wait_until("the step is made", ready.exists)
        shown = self.wait_until("the step is shown", lambda: next(
            (job for job in [self.job("quick")] if job["status"].get("progress", {}).get("step")),
            None))
        self.assertEqual(shown["status"]["progress"]["step"], 1)
        self.assertIn("lastStepAt", shown["status"]["progress"])
        # By the clock of the server, however long this test waited. Written with the usual
        # progress it would come 15 s after the write of Running.
        written = max(datetime.fromisoformat(one["time"]).timestamp()
                      for one in shown["metadata"]["managedFields"]
                      if one.get("subresource") == "status")
        self.assertLess(written - ready.stat().st_mtime, 5)
        self.amdahl("cancel", "quick", "--yes", "--wait")

    # promises: D11
    def test_a_job_that_has_ended_shows_no_time_that_is_left(self):
        self.submit_script("early", "import time; from amdahl import job\n"
                           "for n in range(1, 30): job.step(n, 1000); time.sleep(0.1)")
        self.wait_until("ended", lambda: self.job("early").get("status", {}).get("phase") in (
            "Succeeded", "Failed"))
        self.assertNotIn("etaSeconds", self.job("early")["status"].get("progress", {}))
        self.assertNotIn("left", self.amdahl("describe", "early"))

    # promises: D5
    def test_a_failed_job_runs_again_and_succeeds(self):
        flag = self.cluster.path / "mended"
        self.submit_script("retried", "import os, sys; "
                           f"sys.exit(not os.path.exists({str(flag)!r}))")
        self.wait_phase("retried", "Failed")
        flag.touch()
        self.amdahl("rerun", "retried")
        self.wait_phase("retried", "Succeeded")
        self.assertEqual(self.job("retried")["status"]["attempt"], 1)

    # promises: D5
    @unittest.skipUnless(LIBRARY, "AMDAHL_CHECKPOINT_LIBRARY names no library: run it by ctest")
    def test_a_job_that_loaded_and_died_runs_again_and_then_goes_on_from_its_checkpoint(self):
        flag, place = self.cluster.path / "saves", self.cluster.path / "claimed"
        self.submit_script("loads", (
            "import os, sys; from amdahl import checkpoint\n"
            "loaded = checkpoint.load(); step = loaded.step if loaded else 0\n"
            "print('begins at', step, flush=True)\n"
            f"os.path.exists({str(flag)!r}) or sys.exit(1)\n"
            "checkpoint.save({}, step + 5); checkpoint.wait()"), checkpoints=place)
        self.wait_phase("loads", "Failed")
        self.assertTrue((place / "owner.jsonl").exists(), "load() has claimed the folder")
        flag.touch()
        for words, begin in ((), 0), (("--from-checkpoint",), 5):
            self.amdahl("rerun", "loads", *words)
            self.wait_phase("loads", "Succeeded")
            self.assertIn(f"begins at {begin}\n", self.amdahl("logs", "loads"))


if __name__ == "__main__":
    unittest.main()
