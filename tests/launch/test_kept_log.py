"""The end of the trainer's output, kept beside the checkpoints when the pod is gone."""

import os
import signal
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from hanging_bucket import HangingBucket  # noqa: E402
from launch import Launch, children_of, name_of, python, wait_for  # noqa: E402

UID = "0b6a3b0e-8b7c-4f5e-9a43-1f3ad6a8f001"
KIB = 1024
NOT_KEPT = "the end of this rank's log was not kept beside the checkpoints"


class KeptLog(unittest.TestCase):
    def start(self, code, env=None, store=None, grace=20, **variables):
        launch = Launch(*python(code), grace=grace, env={
            "AMDAHL_JOB_UID": UID, "AMDAHL_RANK": "1", **(env or {}), **variables})
        self.store = store or launch.path / "store"
        launch.env.setdefault("AMDAHL_CHECKPOINT_URI", f"file://{self.store}")
        launch.env.pop("AMDAHL_CHECKPOINT_MARKER")
        launch.__enter__()
        self.addCleanup(launch.__exit__)
        return launch

    def kept(self, attempt=1, rank=1):
        return self.store / f".amdahl-logs/{UID}/{rank:05}/{attempt:010}.log"

    # promises: D9
    def test_however_the_trainer_ends_the_end_of_its_output_is_kept(self):
        ends = {"sys.exit(0)": 0, "sys.exit(3)": 3, "os.kill(os.getpid(), 9)": 137,
                "raise ValueError('deep')": 1}
        for end, code in ends.items():
            with self.subTest(end):
                launch = self.start(f"import os, sys; print('to stdout')\n"
                                    f"print('to stderr', file=sys.stderr)\n{end}")
                self.assertEqual(launch.wait(), code, launch.errors())
                text = self.kept().read_text()
                self.assertIn("to stdout\n", text)
                self.assertIn("to stderr\n", text)
                self.assertEqual("ValueError: deep" in text, "ValueError" in end)
                self.assertNotIn("amdahl-launch", launch.errors())

    # promises: D9
    def test_after_sigterm_too(self):
        for code in ("time.sleep(600)",  # SIGTERM ends it
                     "signal.signal(signal.SIGTERM, lambda *_: sys.exit(print('asked') or 0))\n"
                     "time.sleep(600)",
                     "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('deaf')\n"
                     "time.sleep(600)"):  # killed late in the grace period
            with self.subTest(code):
                launch = self.start("import signal, sys, time\n" + code.replace(
                    "time.sleep", "print('ready'); time.sleep"), grace=6)
                launch.said("ready")
                launch.signal(signal.SIGTERM)
                launch.wait()
                self.assertEqual(self.kept().read_text(), launch.output())

    # promises: D9
    def test_only_the_last_64_kib_from_the_beginning_of_a_line(self):
        launch = self.start("for i in range(100_000): print('line', i)")
        self.assertEqual(launch.wait(60), 0)
        text = self.kept().read_text()
        self.assertLessEqual(len(text), 64 * KIB)
        self.assertGreater(len(text), 62 * KIB)
        self.assertRegex(text, r"^line \d+\n")
        self.assertTrue(text.endswith("line 99999\n"))

    # promises: D9
    def test_attempts_before_the_last_three_are_removed(self):
        first = self.start("print('attempt 1')")
        self.assertEqual(first.wait(), 0)
        store = self.store
        for attempt in (2, 3, 4):
            launch = self.start(f"print('attempt {attempt}')", store=store,
                                AMDAHL_ATTEMPT=str(attempt))
            self.assertEqual(launch.wait(), 0)
        self.assertFalse(self.kept(1).exists())
        for attempt in (2, 3, 4):
            self.assertEqual(self.kept(attempt).read_text(), f"attempt {attempt}\n")

    # promises: D9
    def test_a_store_that_hangs_delays_the_end_by_seconds_and_changes_nothing(self):
        bucket = HangingBucket()
        self.addCleanup(bucket.close)
        launch = self.start("import sys; print('end'); sys.exit(3)", {
            "AMDAHL_CHECKPOINT_URI": "gs://bucket/job", "STORAGE_EMULATOR_HOST": bucket.host})
        launch.said("end")
        began = time.monotonic()
        self.assertEqual(launch.wait(), 3)
        self.assertLess(time.monotonic() - began, 15, "the bound is 3 s; the machine may be busy")
        self.assertTrue(bucket.asked.is_set())
        self.assertEqual(launch.errors().count(NOT_KEPT), 1, launch.errors())
        self.assertEqual(launch.last_word()["exit"]["code"], 3)

    # promises: D9
    def test_a_store_that_hangs_does_not_outlast_the_grace_period(self):
        bucket = HangingBucket()
        self.addCleanup(bucket.close)
        launch = self.start("import time; print('ready'); time.sleep(600)", {
            "AMDAHL_CHECKPOINT_URI": "gs://bucket/job", "STORAGE_EMULATOR_HOST": bucket.host},
            grace=2)
        launch.said("ready")
        began = time.monotonic()
        launch.signal(signal.SIGTERM)
        self.assertEqual(launch.wait(), 128 + signal.SIGTERM)
        self.assertLess(time.monotonic() - began, 2 + 1, "a kubelet would have killed it")

    # promises: D9
    def test_a_writer_that_is_killed_is_one_line(self):
        bucket = HangingBucket()
        self.addCleanup(bucket.close)
        launch = self.start("import sys; sys.exit(3)", {
            "AMDAHL_CHECKPOINT_URI": "gs://bucket/job", "STORAGE_EMULATOR_HOST": bucket.host})
        writer = wait_for(lambda: next((pid for pid in children_of(launch.process.pid)
                                        if name_of(pid) == "log-keeper"), None))
        os.kill(writer, signal.SIGKILL)
        self.assertEqual(launch.wait(), 3)
        self.assertEqual(launch.errors().count(NOT_KEPT), 1, launch.errors())

    # promises: D9
    def test_a_folder_that_cannot_be_written_is_one_line(self):
        launch = self.start("print('x')", {"AMDAHL_CHECKPOINT_URI": "file:///proc/no/store"})
        self.assertEqual(launch.wait(), 0)
        self.assertEqual(launch.errors().count(NOT_KEPT), 1, launch.errors())

    # promises: D9, D4
    def test_a_link_in_place_of_the_folder_is_not_followed(self):
        launch = self.start("import time; print('ready'); time.sleep(600)")
        launch.said("ready")
        elsewhere = launch.path / "elsewhere"
        elsewhere.mkdir()
        self.store.mkdir(exist_ok=True)
        (self.store / ".amdahl-logs").symlink_to(elsewhere)
        launch.signal(signal.SIGTERM)
        launch.wait()
        self.assertEqual(list(elsewhere.iterdir()), [])
        self.assertEqual(launch.errors().count(NOT_KEPT), 1, launch.errors())

    def test_without_a_job_or_checkpoints_nothing_is_written(self):
        for env in ({"AMDAHL_JOB_UID": ""}, {"AMDAHL_CHECKPOINT_URI": ""}, {"AMDAHL_ATTEMPT": ""}):
            with self.subTest(env):
                launch = self.start("print('x')", env)
                self.assertEqual(launch.wait(), 0)
                self.assertFalse(self.store.exists())
                self.assertNotIn("amdahl-launch", launch.errors())


if __name__ == "__main__":
    unittest.main()
