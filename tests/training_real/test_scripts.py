"""The trainers of examples/ under amdahl-launch alone, with an operator written in Python.

Here they do without the package `amdahl`: a pause comes as a signal, steps are read from the log,
and the marker file says what is safe.
"""

import json
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "launch")]

from job_case import PYTHON, has_torch  # noqa: E402
from launch import Launch, Operator, wait_for  # noqa: E402

STEPS = 100


@unittest.skipUnless(has_torch(), f"{PYTHON} has no torch: tools/setup installs it")
class WithoutThePackage(unittest.TestCase):
    def setUp(self):
        self.operator = Operator()
        self.addCleanup(self.operator.__exit__)
        folder = tempfile.TemporaryDirectory(prefix="amdahl-scripts-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_trainer(self) -> Launch:
        launch = Launch(PYTHON, ROOT / "examples/train_tiny.py", f"--steps={STEPS}",
                        "--step-seconds=0.05", f"--losses={self.folder / 'losses'}", env={
            "AMDAHL_REPORT_URL": self.operator.url, "AMDAHL_RUNTIME": "Torchrun",
            "AMDAHL_CHECKPOINT_URI": f"file://{self.folder}", "PET_NPROC_PER_NODE": "2",
            "PET_REDIRECTS": "9:1", "PET_TEE": "9:1", "PYTHONPATH": ""})
        launch.__enter__()
        self.addCleanup(launch.__exit__)
        return launch

    def steps(self) -> list[int]:
        lines = (self.folder / "losses").read_text().splitlines()
        return [json.loads(line)["step"] for line in lines]

    def test_a_pause_by_signal_saves_and_the_next_run_goes_on(self):
        launch = self.run_trainer()
        wait_for(lambda: self.operator.last().get("step", 0) > 5, seconds=90)
        self.operator.reply = {"request": "Pause", "deadlineSeconds": 60, "reportEverySeconds": 1}
        self.assertEqual(launch.wait(), 0)
        word = launch.last_word()
        self.assertEqual((word["pause"]["state"], word["pause"]["way"]),
                         ("Committed", "UserSignal"))
        paused_at = word["pause"]["step"]
        self.assertEqual(paused_at, self.steps()[-1])
        self.assertEqual([one["name"] for one in word["metrics"]], ["loss"])
        self.operator.reply = {"reportEverySeconds": 1}
        self.assertEqual(self.run_trainer().wait(90), 0)
        self.assertEqual(self.steps(), list(range(1, STEPS + 1)))


if __name__ == "__main__":
    unittest.main()
