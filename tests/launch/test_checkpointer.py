"""The checkpointer: the third process, which finishes saves of a trainer that is dead."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from hanging_bucket import HangingBucket  # noqa: E402
from launch import Launch, Operator, wait_for  # noqa: E402

LIBRARY = os.environ.get("AMDAHL_CHECKPOINT_LIBRARY", "")
# The library of a build with sanitizers needs their runtime before anything else, Python alone.
SANITIZER = os.environ.get("AMDAHL_SANITIZER_RUNTIME", "")
PYTHON = "/usr/bin/python3"  # that Debian's numpy belongs to
IDLE_KIB_MAX = 3 * 1024

SAVE = """
import os, signal, sys, time
import numpy
from amdahl import checkpoint
def state(step):
    return {"w": numpy.full(200_000, step, dtype=numpy.float32), "step": step}
def die():
    os.kill(os.getpid(), signal.SIGKILL)
"""
LOAD = """
import sys, numpy
from amdahl import checkpoint
found = checkpoint.Checkpointer(sys.argv[1], agent="off").load(as_numpy=True)
assert (found.state["w"] == found.step).all() and found.state["step"] == found.step
print(found.step)
"""


@unittest.skipUnless(LIBRARY, "AMDAHL_CHECKPOINT_LIBRARY names no library: run it by ctest")
class Checkpointer(unittest.TestCase):
    def trainer(self, code, env=None, grace=20):
        variables = {"AMDAHL_CHECKPOINT_LIBRARY": LIBRARY, "AMDAHL_JOB_UID": "uid-1", **(env or {})}
        launch = Launch(PYTHON, "-u", "-c", SAVE + code, env=variables, grace=grace)
        launch.env.setdefault("AMDAHL_CHECKPOINT_URI", f"file://{launch.path}/store")
        launch.env.pop("AMDAHL_CHECKPOINT_MARKER")
        if SANITIZER:
            python = launch.path / "python3"
            python.write_text(f"#!/bin/sh\nexport LD_PRELOAD={SANITIZER}\n"
                              f"export ASAN_OPTIONS=detect_leaks=0\nexec {PYTHON} \"$@\"\n")
            python.chmod(0o755)
            launch.command[launch.command.index(PYTHON)] = str(python)
        launch.__enter__()
        self.addCleanup(launch.__exit__)
        return launch

    def loaded(self, launch):
        """The step that a new process finds, whose values it has looked at."""
        python = launch.command[3]
        done = subprocess.run(
            [python, "-c", LOAD, str(launch.path / "store")], capture_output=True, text=True,
            env=launch.env, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(done.stdout)

    def test_killed_right_after_a_save_the_trainer_leaves_a_checkpoint(self):
        launch = self.trainer("checkpoint.save(state(7), 7); die()")
        self.assertEqual(launch.wait(), 128 + signal.SIGKILL, launch.errors())
        self.assertEqual(self.loaded(launch), 7)
        word = launch.last_word()["checkpoint"]
        self.assertEqual(word["step"], 7)
        self.assertEqual(word["path"], f"file://{launch.path}/store")
        self.assertRegex(word["manifestDigest"], "^sha256:[0-9a-f]{64}$")
        self.assertIn("stallSeconds", word)

    def test_the_operator_hears_of_it_and_a_pause_is_committed(self):
        with Operator() as operator:
            code = """
from amdahl import job
for n in range(1, 100_000):
    job.step(n, 100_000)
    if job.should_stop():
        checkpoint.save(state(n), n)
        os._exit(0)  # without waiting for anything
    time.sleep(0.02)
"""
            launch = self.trainer(code, {"AMDAHL_REPORT_URL": operator.url})
            wait_for(lambda: operator.last().get("step", 0) > 3)
            operator.reply = {"request": "Pause", "deadlineSeconds": 30, "reportEverySeconds": 1}
            self.assertEqual(launch.wait(), 0, launch.errors())
            last = operator.last()
            self.assertEqual(last["pause"]["state"], "Committed")
            self.assertEqual(last["pause"]["step"], last["checkpoint"]["step"])
            self.assertEqual(self.loaded(launch), last["checkpoint"]["step"])

    def test_a_process_that_replaces_a_dead_one_goes_on_from_its_step(self):
        code = """
if os.fork() == 0:
    checkpoint.save(state(9), 9)
    die()
os.wait()
print("found", checkpoint.load().step)
"""
        launch = self.trainer(code)
        self.assertEqual(launch.wait(), 0, launch.errors())
        self.assertIn("found 9", launch.output())

    def test_snapshots_lie_on_the_memory_volume_and_nothing_stays_there(self):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as volume:
            code = """
checkpoint.save(state(7), 7)
print(volume_files(), flush=True)
die()
"""
            files = """
def volume_files():
    links = [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")
             if os.path.lexists(f"/proc/self/fd/{n}")]
    return sum(link.startswith(os.environ["AMDAHL_ARENA_DIR"]) for link in links)
"""
            launch = self.trainer(files + code, {"AMDAHL_ARENA_DIR": volume,
                                                 "AMDAHL_ARENA_BYTES": "50000000"})
            self.assertEqual(launch.wait(), 128 + signal.SIGKILL, launch.errors())
            self.assertEqual(launch.output(), "1\n")
            self.assertEqual(self.loaded(launch), 7)
            self.assertEqual(os.listdir(volume), [])

    def test_too_little_memory_is_refused_with_the_numbers(self):
        launch = self.trainer("checkpoint.save(state(7), 7)",
                              {"AMDAHL_ARENA_BYTES": "1000000", "LOCAL_WORLD_SIZE": "2"})
        self.assertEqual(launch.wait(), 1)
        self.assertRegex(launch.errors(), r"need \d+ bytes .* AMDAHL_ARENA_BYTES=1000000 for 2 "
                                          r"processes leaves 500000")

    def test_the_trainer_runs_on_when_it_is_killed(self):
        code = """
checkpoint.save(state(1), 1)
checkpoint.wait()
print("ready", flush=True)
while not os.path.exists("go"): time.sleep(0.02)
checkpoint.save(state(2), 2)
checkpoint.wait()
sys.exit(5)
"""
        launch = self.trainer(code)
        launch.said("ready")
        os.kill(launch.checkpointer(), signal.SIGKILL)
        wait_for(lambda: "checkpointer is gone" in launch.errors())
        (launch.path / "go").write_text("")
        self.assertEqual(launch.wait(), 5, launch.errors())
        self.assertEqual(self.loaded(launch), 2)
        self.assertEqual(launch.errors().count("no checkpoint agent"), 1)

    def test_it_is_started_again_for_trainers_that_come_later(self):
        code = """
if os.fork() == 0:
    checkpoint.save(state(1), 1)
    checkpoint.wait()
    print("ready", flush=True)
    while not os.path.exists("go"): time.sleep(0.02)
    os._exit(0)
os.wait()
checkpoint.save(state(2), 2)
die()
"""
        launch = self.trainer(code)
        launch.said("ready")
        first = launch.checkpointer()
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: "checkpointer is gone" in launch.errors())
        wait_for(lambda: launch.checkpointer() != first)
        (launch.path / "go").write_text("")
        self.assertEqual(launch.wait(), 128 + signal.SIGKILL, launch.errors())
        self.assertEqual(self.loaded(launch), 2)  # written by the second: the trainer was killed
        self.assertEqual(launch.last_word()["checkpoint"]["step"], 2)

    def hang(self, grace):
        bucket = HangingBucket()
        self.addCleanup(bucket.close)
        env = {"AMDAHL_CHECKPOINT_URI": "gs://bucket/job", "STORAGE_EMULATOR_HOST": bucket.host}
        launch = self.trainer("checkpoint.save(state(7), 7); os._exit(3)", env, grace)
        self.assertTrue(bucket.asked.wait(30), launch.errors())
        return launch

    def test_it_is_waited_for_and_no_longer_than_the_grace_period(self):
        launch = self.hang(grace=4)
        time.sleep(1.5)
        self.assertIsNone(launch.process.poll(), launch.errors())
        begin = time.monotonic()
        launch.signal(signal.SIGTERM)
        self.assertEqual(launch.wait(), 3)
        self.assertLess(time.monotonic() - begin, 4)
        self.assertIn("were not written in time", launch.errors())
        self.assertEqual(launch.last_word()["exit"], {"code": 3})

    def test_waiting_for_the_first_save_it_costs_nothing(self):
        launch = self.trainer("print('ready', flush=True); time.sleep(60)")
        launch.said("ready")
        pid = launch.checkpointer()
        before = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        time.sleep(1)
        after = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        self.assertEqual(before, after)
        kib = int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])
        print(f"idle checkpointer: {kib} KiB", file=sys.stderr)
        if not SANITIZER:
            self.assertLess(kib, IDLE_KIB_MAX)

    def test_without_a_place_for_checkpoints_there_is_none(self):
        launch = self.trainer("print(os.environ.get('AMDAHL_CHECKPOINT_SOCKET'), flush=True)",
                              {"AMDAHL_CHECKPOINT_URI": ""})
        self.assertEqual(launch.wait(), 0)
        self.assertEqual(launch.output(), "None\n")


if __name__ == "__main__":
    unittest.main()
