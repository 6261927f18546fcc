"""A script of examples/recipes as a job of two ranks on the embedded cluster."""

import os
import shutil
import signal
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "training_real"), str(ROOT / "tests" / "embedded")]

from checkpoint_case import LIBRARY, python_for_jobs  # noqa: E402
from job_case import Job, JobCase  # noqa: E402
from test_torchrun import process_of_rank  # noqa: E402

STEPS = 400
SLOW = "0.1"


def refuse_pause(case: JobCase, job: Job) -> None:
    """A pause of a job whose store has begun to fail: it is refused, the same attempt goes on."""
    case.until(lambda: job.status().get("progress", {}).get("step"), job, "a reported step")
    shutil.rmtree(job.checkpoints, ignore_errors=True)
    job.checkpoints.write_text("")  # root may write into any folder, but not below a file
    said = case.home.run("pause", job.name, "--wait", check=False)
    case.assertEqual(said.returncode, 1, said.stdout + said.stderr)
    case.assertIn("refused", said.stdout + said.stderr)
    before = job.last_step()
    case.until(lambda: job.last_step() > before + 5, job, "more steps")
    status = job.status()
    case.assertEqual((status["phase"], status["attempt"]), ("Running", 1), status)


@unittest.skipUnless(LIBRARY, "AMDAHL_CHECKPOINT_LIBRARY names no library: run it by ctest")
class RecipeCase(JobCase):
    """`python` runs the scripts; `variables` are added to the container's."""

    python = ""
    variables: dict[str, str] = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = python_for_jobs(cls.home.path, cls.python)

    def until(self, ready, job: Job, what: str, seconds: float = 240):
        """Frameworks need their time to be imported, three times, on a busy machine."""
        return super().until(ready, job, what, seconds)

    def finished(self, name: str) -> Path:
        """Where a recipe puts its model when the run is complete."""
        return self.home.path / name / "finished"

    def start_recipe(self, script: str, *arguments: str, suffix: str = "") -> Job:
        name = script.replace("_", "-") + suffix
        variables = {"AMDAHL_CHECKPOINT_LIBRARY": LIBRARY, "OMP_NUM_THREADS": "1",
                     "NSS_WRAPPER_DISABLE_DEEPBIND": "1", **self.variables}
        place = "        - {name: PYTHONPATH, value: "
        added = "".join(f'        - {{name: {key}, value: "{value}"}}\n'
                        for key, value in variables.items())
        folder = self.home.path / name
        words = ", ".join([f"--steps={STEPS}", f"--out={self.finished(name)}", *arguments])
        path = f"/path/to/amdahl/examples/recipes/{script}.py"
        job = Job(self.home, "recipes/recipe.yaml", name, {
            "/path/to/python": str(self.program), "--steps=400": words, place: added + place,
            "interval: 10s": "interval: 2s",
            f"{ROOT}/examples/recipes/plain_pytorch.py":
                f"{HERE}/recorded.py, {folder}, {path.replace('/path/to/amdahl', str(ROOT))}"})
        (folder / "pace").write_text(SLOW)
        self.addCleanup(self.remove, job)
        job.apply()
        return job

    def steps_of(self, job: Job, attempt: int) -> list[int]:
        return [step for number, step, _ in job.losses() if number == attempt]

    def check_whole_life(self, script: str, *arguments: str) -> Job:
        """Started, saved, paused, resumed, a rank killed, run to its end; no step is left out."""
        job = self.start_recipe(script, *arguments)
        status = self.pause(job)
        pause = status["pause"]
        self.assertEqual((pause["outcome"], pause["lostSteps"]), ("Committed", 0), status)
        self.assertEqual(pause["step"], self.steps_of(job, 1)[-1])
        self.assertLess(pause["step"], STEPS)
        self.assertFalse(self.finished(job.name).exists(), "a pause published half a model")
        job.apply()
        self.until(lambda: (job.status().get("checkpoint", {}).get("lastCommitted", {})
                            .get("step", 0)) > pause["step"], job, "a save after the resume")
        self.assertEqual(self.steps_of(job, 2)[0], pause["step"] + 1)
        os.kill(process_of_rank(job, 1), signal.SIGKILL)
        self.until(lambda: job.status()["attempt"] == 3, job, "attempt 3")
        (job.folder / "pace").write_text("0")
        status = self.until_phase(job, "Succeeded")
        self.assertEqual([one["outcome"] for one in status["attempts"]],
                         ["Paused", "Failed", "Succeeded"])
        self.assertTrue(self.finished(job.name).exists(), "the run is complete")
        second, third = self.steps_of(job, 2), self.steps_of(job, 3)
        self.assertEqual(third, list(range(status["attempts"][2]["resumedFromStep"] + 1,
                                           STEPS + 1)))
        self.assertGreater(third[0], pause["step"] + 1, "it goes on from the save after the resume")
        self.assertLessEqual(third[0], second[-1] + 1)
        self.assertEqual(sorted({step for _, step, _ in job.losses()}), list(range(1, STEPS + 1)))
        return job

    def check_refused_pause(self, script: str, *arguments: str) -> None:
        """A store that fails costs no step: the script trains on, and pauses when it is back."""
        job = self.start_recipe(script, *arguments, suffix="-refused")
        refuse_pause(self, job)
        job.checkpoints.unlink()
        status = self.until_phase(job, "Paused")
        self.assertEqual((status["pause"]["outcome"], status["pause"]["lostSteps"]),
                         ("Committed", 0), status)
        self.assertEqual(status["pause"]["step"], self.steps_of(job, 1)[-1])
        self.assertFalse(self.finished(job.name).exists(), "a pause published half a model")

    def check_losses_repeat(self, job: Job) -> None:
        """A step that was made twice, before the kill and after it, had the same loss."""
        losses: dict[int, set] = {}
        for _, step, loss in job.losses():
            losses.setdefault(step, set()).add(loss)
        self.assertEqual({step: found for step, found in losses.items() if len(found) > 1}, {})
