"""Pauses that are taken back: by `amdahl resume`, while the trainer hears of them and saves."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from launch import wait_for  # noqa: E402
from pause_case import LOOP, MARK, PauseCase  # noqa: E402

# Its save ends when the test says so; then it ends for the pause, whatever it is told meanwhile.
SLOW_SAVE = """
import os, time
from amdahl import job
for n in range(1, 100000):
    job.step(n, 100000)
    if job.should_stop():
        BEFORE
        while not os.path.exists("go"): time.sleep(0.02)
        AFTER
    time.sleep(0.01)
"""
COMMIT = 'job.committed(n, "/ckpt/%d" % n)'


class TakenBackTest(PauseCase):
    def resume_while_it_saves(self, state, before="pass", after="break"):
        """The launch and its last word, of a trainer that ends after the pause was taken back."""
        self.operator.reports.clear()  # of the one before
        launch = self.run_trainer(SLOW_SAVE.replace("BEFORE", before).replace("AFTER", after))
        wait_for(lambda: self.operator.last().get("step", 0) > 10)
        self.ask("Pause")
        self.reaches(state, "Helper")
        self.ask("None")
        self.reaches("None")
        (launch.path / "go").touch()
        self.assertEqual(launch.wait(), 0)
        return launch.last_word()

    # promises: D7
    def test_a_trainer_that_ends_for_a_pause_that_was_taken_back_says_so(self):
        for how in ({"before": COMMIT}, {"before": COMMIT, "after": "job.exit_paused()"}):
            word = self.resume_while_it_saves("Committed", **how)
            self.assertEqual((word["pause"]["state"], word["exit"]), ("Committed", {"code": 0}))
            self.assertEqual(word["pause"]["step"], word["step"])
        word = self.resume_while_it_saves("Saving", after=COMMIT + "; break")
        self.assertEqual(word["pause"]["state"], "Committed")  # after it was taken back
        for ending in ("break", "job.exit_paused()"):
            word = self.resume_while_it_saves("Saving", after=ending)
            self.assertEqual((word["pause"]["state"], word["exit"]), ("Saving", {"code": 0}))

    # promises: D7
    def test_a_trainer_that_went_on_after_a_pause_ends_as_without_one(self):
        after = "print('again', flush=True); os.remove('go'); past = n"
        code = SLOW_SAVE.replace("BEFORE", COMMIT).replace("AFTER", after)
        code = "past = None\n" + code + "    if past and n > past + 400: break\n"
        launch = self.run_trainer(code)
        wait_for(lambda: self.operator.last().get("step", 0) > 10)
        self.ask("Pause")
        self.reaches("Committed", "Helper")
        self.ask("None")
        self.reaches("None")
        (launch.path / "go").touch()
        launch.said("again")
        self.assertEqual(launch.wait(), 0)
        self.assertNotIn("state", launch.last_word().get("pause", {}))

    # promises: D2
    def test_a_pause_after_one_that_was_taken_back_waits_for_its_own_checkpoint(self):
        after = "print('again', flush=True); os.remove('go')"
        launch = self.run_trainer(SLOW_SAVE.replace("BEFORE", COMMIT).replace("AFTER", after))
        wait_for(lambda: self.operator.last().get("step", 0) > 10)
        self.ask("Pause")
        self.reaches("Committed", "Helper")
        first = self.operator.last()["pause"]["step"]
        self.ask("None")
        self.reaches("None")
        (launch.path / "go").touch()
        launch.said("again")
        wait_for(lambda: self.operator.last().get("step", 0) > first + 10)
        self.ask("Pause")
        self.reaches("Committed", "Helper")
        self.assertGreater(self.operator.last()["pause"]["step"], first + 10)

    # promises: D7
    def test_sigterm_for_a_pause_that_was_taken_back_is_no_success(self):
        code = MARK + "def end(*_):\n    time.sleep(3)\n    mark(9)\n    sys.exit(0)\n" \
            "signal.signal(signal.SIGTERM, end)\n" + LOOP
        launch = self.run_trainer(code)
        launch.said("ready")
        self.ask("Pause")
        self.reaches("Requested", "Terminate")
        self.ask("None")
        self.reaches("None")
        self.assertEqual(launch.wait(), 0)
        self.assertEqual(launch.last_word()["pause"],
                         {"state": "Committed", "way": "Terminate", "step": 9})


if __name__ == "__main__":
    unittest.main()
