"""Scripts without the package `amdahl` as jobs of the embedded cluster: progress from their logs,
or counted inside them.

That in the shape of nanoGPT runs with Debian's torch, the others with `make frameworks`.
"""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[0] / "training_real"), str(HERE.parents[1] / "tools")]

import frameworks  # noqa: E402
from job_case import PYTHON, has_torch  # noqa: E402
from script_case import ScriptCase  # noqa: E402

WITH_FRAMEWORKS = unittest.skipIf(frameworks.python() is None,
                                  "frameworks are not installed; `make frameworks` installs them")


class PlainScripts(ScriptCase):
    def progress_of(self, name: str, python: Path | str, script: str, runtime="Python") -> dict:
        """When it has succeeded."""
        text = (HERE / "scripts" / script).read_text()
        self.assertNotIn("amdahl", text)
        self.submit(name, python, HERE / "scripts" / script, runtime=runtime,
                    env={**frameworks.variables(), "PYTHONUNBUFFERED": "1"})
        return self.until_end(name, "Succeeded")["progress"]

    # promises: D8
    @unittest.skipUnless(has_torch(), f"{PYTHON} has no torch: tools/setup installs it")
    def test_a_loop_in_the_shape_of_nanogpt(self):
        progress = self.progress_of("nanogpt", PYTHON, "nanogpt_train.py")
        self.assertEqual((progress["step"], progress["source"]), (200, "Log"), progress)
        self.assertNotIn("totalSteps", progress)  # it is not printed
        self.assertIn("loss", {one["name"] for one in progress["metrics"]})

    # promises: D8
    @WITH_FRAMEWORKS
    def test_the_trainer_of_hugging_face(self):
        progress = self.progress_of("trainer", frameworks.python(), "huggingface_finetune.py")
        self.assertEqual((progress["step"], progress["totalSteps"]), (80, 80), progress)
        self.assertEqual(progress["source"], "Log")  # a bar like any other of tqdm
        self.assertIn("loss", {one["name"] for one in progress["metrics"]})

    # promises: D8
    @WITH_FRAMEWORKS
    def test_lightning(self):
        progress = self.progress_of("lightning", frameworks.python(), "lightning_fit.py")
        self.assertEqual((progress["step"], progress["source"]), (60, "Framework"), progress)
        self.assertIn("train_loss", {one["name"] for one in progress["metrics"]})

    # promises: D8
    @WITH_FRAMEWORKS
    def test_a_silent_loop_with_torch_of_today(self):
        progress = self.progress_of("silent", frameworks.python(), "torch_silent.py")
        self.assertEqual((progress["step"], progress["source"]), (60, "Hook"), progress)

    # promises: D8
    @WITH_FRAMEWORKS
    def test_deepspeed_at_its_default_log_level(self):
        progress = self.progress_of("deepspeed", frameworks.python(), "deepspeed_silent.py",
                                    runtime="DeepSpeed")
        self.assertEqual((progress["step"], progress["source"]), (40, "Hook"), progress)


if __name__ == "__main__":
    unittest.main()
