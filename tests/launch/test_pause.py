"""Pauses and stops: by the Python package, by SIGUSR1, by SIGTERM; and when nobody hears."""

import signal
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from launch import Launch, wait_for  # noqa: E402
from pause_case import LOOP, MARK, PauseCase  # noqa: E402

HELPER = """
import time
from amdahl import job
stopped = False
for n in range(1, 100000):
    job.step(n, 100000, loss=1.0 / n)
    if job.should_stop():
        print("asked", flush=True)
        time.sleep(0.3)
        job.committed(n, "/ckpt/%d" % n)
        AFTER
    time.sleep(0.01)
"""
# Rank 1 hears of the pause while rank 0 is two steps further than it has told, with a usual
# checkpoint of before under way.
TWO_RANKS = """
import os, time
child = os.fork()
os.environ["LOCAL_RANK"] = "1" if child == 0 else "0"
from amdahl import job
if child == 0:
    while not job.should_stop():
        time.sleep(0.01)
    open("heard", "w").close()
    time.sleep(0.3)
else:
    job.step(40)
    job.should_stop()
    while not os.path.exists("heard"):
        time.sleep(0.01)
    time.sleep(0.3)
    job.committed(40, "/ckpt/40")
    time.sleep(0.3)
    for n in (41, 42):
        job.step(n)
    while not job.should_stop():
        time.sleep(0.01)
    job.committed(42, "/ckpt/42")
    os.waitpid(child, 0)
"""


class PauseTest(PauseCase):
    def test_by_the_package_the_trainer_saves_and_ends(self):
        launch = self.run_trainer(HELPER.replace("AFTER", "break"))
        wait_for(lambda: self.operator.last().get("step", 0) > 10)
        self.ask("Pause")
        self.assertEqual(launch.wait(), 0)
        word = launch.last_word()
        self.assertEqual((word["pause"]["state"], word["pause"]["way"]), ("Committed", "Helper"))
        self.assertEqual(word["pause"]["step"], word["checkpoint"]["step"])
        self.assertEqual(word["checkpoint"]["path"], f"file:///ckpt/{word['checkpoint']['step']}")
        seen = [report.get("pause", {}).get("state") for report in self.operator.reports]
        self.assertIn("Saving", seen)
        self.assertEqual(self.operator.last()["exit"], {"code": 0})

    # promises: D2
    def test_the_rank_that_counts_steps_has_to_hear(self):
        launch = self.run_trainer(TWO_RANKS)
        wait_for(lambda: self.operator.last().get("step") == 40)
        self.ask("Pause")
        self.assertEqual(launch.wait(), 0)
        self.assertEqual(launch.last_word()["pause"],
                         {"state": "Committed", "way": "Helper", "step": 42})

    def test_by_sigusr1_the_trainer_saves_and_goes_on(self):
        code = MARK + "signal.signal(signal.SIGUSR1, lambda *_: mark(7))\n" + LOOP
        launch = self.run_trainer(code)
        launch.said("ready")
        self.ask("Pause")
        self.reaches("Committed", "UserSignal")
        self.assertEqual(self.operator.last()["checkpoint"]["path"], "file:///ckpt/7")
        self.assertIsNone(launch.process.poll())

    def test_by_sigterm_the_trainer_saves_and_ends(self):
        code = MARK + "signal.signal(signal.SIGTERM, lambda *_: (mark(9), sys.exit(0)))\n" + LOOP
        launch = self.run_trainer(code)
        launch.said("ready")
        self.ask("Pause")
        self.assertEqual(launch.wait(), 0)
        word = launch.last_word()
        self.assertEqual(word["pause"], {"state": "Committed", "way": "Terminate", "step": 9})

    def test_a_trainer_that_hears_nothing_runs_on_and_the_operator_learns_it(self):
        code = "from amdahl import job\njob.step(1)\n"  # makes steps, but never asks
        launch = self.run_trainer(MARK + code + LOOP)
        launch.said("ready")
        wait_for(lambda: self.operator.last().get("step") == 1)
        self.ask("Pause")
        self.reaches("Failed")
        self.assertIsNone(launch.process.poll())
        self.assertIn("runs on", launch.errors())

    # promises: B2
    def test_a_trainer_that_saves_and_hears_nothing_is_not_waited_for(self):
        launch = self.run_trainer(MARK + "mark(3)\n" + LOOP)  # counts no steps
        launch.said("ready")
        wait_for(lambda: self.operator.last().get("checkpoint", {}).get("step") == 3)
        self.ask("Pause", seconds=3600)
        self.reaches("Failed")
        self.assertNotIn("way", self.operator.last()["pause"])
        self.assertIsNone(launch.process.poll())

    # promises: B2
    def test_a_trainer_that_begins_to_listen_after_the_deadline_is_told(self):
        code = MARK + "print('ready', flush=True)\n" \
            "while not os.path.exists('go'): time.sleep(0.05)\n" + HELPER.replace("AFTER", "break")
        launch = self.run_trainer(code)
        launch.said("ready")
        self.ask("Pause", seconds=1)
        self.reaches("TimedOut")
        (launch.path / "go").touch()
        self.assertEqual(launch.wait(), 0)
        self.assertEqual(launch.last_word()["pause"]["state"], "Committed")

    # promises: D2
    def test_a_save_that_fails_is_reported_with_its_reason(self):
        code = "from amdahl import job\njob.save_failed(2, 'put https://a:pw@b/c?sig=x: denied')\n"
        launch = self.run_trainer(MARK + code + LOOP)
        launch.said("ready")
        wait_for(lambda: self.operator.last().get("failedSaves"))
        failed = self.operator.last()["failedSaves"]
        self.assertEqual(failed["count"], 2)
        self.assertIn("denied", failed["message"])
        self.assertNotIn("pw", failed["message"])
        self.assertNotIn("sig", failed["message"])

    # promises: D7
    def test_the_exit_code_of_a_pause_is_a_good_end_once_it_is_committed(self):
        launch = self.run_trainer(HELPER.replace("AFTER", "job.exit_paused()"))
        wait_for(lambda: self.operator.last().get("step", 0) > 10)
        self.ask("Pause")
        self.assertEqual(launch.wait(), 0)
        word = launch.last_word()
        self.assertEqual((word["pause"]["state"], word["exit"]), ("Committed", {"code": 0}))

    # promises: D7
    def test_the_exit_code_of_a_pause_that_nobody_asked_for_is_a_failure(self):
        launch = self.run_trainer("from amdahl import job\njob.exit_paused()\n")
        self.assertEqual(launch.wait(), 85)
        self.assertEqual(launch.last_word()["exit"], {"code": 85})
        unsaved = HELPER.replace('job.committed(n, "/ckpt/%d" % n)', "job.failed('disk full')")
        launch = self.run_trainer(unsaved.replace("AFTER", "job.exit_paused()"))
        wait_for(lambda: self.operator.last().get("step", 0) > 10)
        self.ask("Pause")
        self.assertEqual(launch.wait(), 85)
        self.assertEqual(launch.last_word()["pause"]["state"], "Failed")

    def test_a_trainer_that_is_still_starting_is_asked_when_it_can_hear(self):
        code = MARK + "print('ready', flush=True); time.sleep(3)\n" \
            "signal.signal(signal.SIGUSR1, lambda *_: mark(7))\n" + LOOP
        launch = self.run_trainer(code)
        launch.said("ready")
        self.ask("Pause")
        self.reaches("Requested")
        self.reaches("Committed", "UserSignal")

    def test_a_trainer_that_hears_and_does_not_save_times_out(self):
        launch = self.run_trainer(MARK + "signal.signal(10, lambda *_: None)\n" + LOOP)
        launch.said("ready")
        self.ask("Pause", seconds=1)
        self.reaches("TimedOut", "UserSignal")
        self.assertIsNone(launch.process.poll())

    def test_a_marker_from_before_the_pause_is_not_its_checkpoint(self):
        code = MARK + "signal.signal(10, lambda *_: None)\nmark(3)\n" + LOOP
        launch = self.run_trainer(code)
        launch.said("ready")
        wait_for(lambda: self.operator.last().get("checkpoint", {}).get("step") == 3)
        self.ask("Pause", seconds=2)
        self.reaches("TimedOut")

    def test_a_pause_that_is_taken_back_lets_the_trainer_go_on(self):
        after = ("\n        while job.should_stop(): time.sleep(0.05)"
                 "\n        print('again', flush=True)")
        launch = self.run_trainer(HELPER.replace("AFTER", after))
        wait_for(lambda: self.operator.last().get("step", 0) > 10)
        self.ask("Pause")
        self.reaches("Committed", "Helper")
        self.ask("None")
        launch.said("again")
        self.reaches("None")
        self.assertIsNone(launch.process.poll())

    def test_a_stop_ends_the_trainer(self):
        launch = self.run_trainer(MARK + LOOP)
        launch.said("ready")
        self.ask("Stop")
        self.assertEqual(launch.wait(), 143)
        self.assertEqual(self.operator.last()["exit"], {"code": 143, "signal": 15})

    def test_sigterm_from_outside_waits_for_a_trainer_that_listens(self):
        launch = self.run_trainer(HELPER.replace("AFTER", "break"))  # catches no signal
        wait_for(lambda: self.operator.last().get("step", 0) > 10)
        launch.signal(signal.SIGTERM)
        self.assertEqual(launch.wait(), 143)  # saved, and not done: nobody may call that a success
        word = launch.last_word()
        self.assertGreater(word["checkpoint"]["step"], 10)
        self.assertEqual((word["phase"], word["exit"]), ("Stopping", {"code": 143}))

    # promises: D7
    def test_sigterm_from_outside_does_not_make_unfinished_work_a_success(self):
        for ending in ("break", "job.exit_paused()"):
            launch = self.run_trainer(HELPER.replace("AFTER", ending))
            wait_for(lambda: self.operator.last().get("step", 0) > 10)
            launch.signal(signal.SIGTERM)
            self.assertEqual(launch.wait(), 143)
            self.operator.reports.clear()

    def test_sigterm_from_outside_at_the_last_step_is_no_failure(self):
        code = "from amdahl import job\njob.step(5, 5)\nprint('ready', flush=True)\n" \
            "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n" \
            "print('done', flush=True)\nwhile True: time.sleep(0.05)\n"
        launch = self.run_trainer(code)
        launch.said("done")
        wait_for(lambda: self.operator.last().get("step") == 5)
        launch.signal(signal.SIGTERM)
        self.assertEqual(launch.wait(), 0)

    def test_a_shell_around_the_trainer_is_no_obstacle(self):
        code = MARK + "signal.signal(signal.SIGTERM, lambda *_: (mark(9), sys.exit(0)))\n" + LOOP
        launch = Launch("sh", "-c", '"$0" -u -c "$1"; exit $?', sys.executable, code,
                        env={"AMDAHL_REPORT_URL": self.operator.url})
        with launch:
            launch.said("ready")
            self.ask("Pause")
            self.assertEqual(launch.wait(), 0)
            self.assertEqual(launch.last_word()["pause"]["state"], "Committed")


if __name__ == "__main__":
    unittest.main()
