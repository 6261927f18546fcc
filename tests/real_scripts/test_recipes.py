"""The recipes with the frameworks of `make frameworks`; exit code 77 without them.

That of plain PyTorch runs in test_guide_loop.py, with Debian's torch.
"""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tools")]

import frameworks  # noqa: E402
from recipe_case import RecipeCase  # noqa: E402


class Recipes(RecipeCase):
    python = frameworks.python()
    variables = {**frameworks.variables(), "PET_MONITOR_INTERVAL": "1"}

    # promises: D12
    def test_a_loop_like_that_of_nanogpt(self):
        self.check_losses_repeat(self.check_whole_life("nanogpt_loop"))

    # promises: D2
    def test_a_store_that_fails_costs_no_step_of_a_loop_like_that_of_nanogpt(self):
        self.check_refused_pause("nanogpt_loop")

    # promises: D2
    def test_a_store_that_fails_costs_no_step_of_fsdp(self):
        self.check_refused_pause("fsdp_dcp")

    # promises: D2
    def test_a_store_that_fails_costs_no_step_of_deepspeed(self):
        self.check_refused_pause("deepspeed_zero", f"--folder={self.home.path / 'zero-refused'}")

    # promises: B8, D12
    def test_the_trainer_of_hugging_face(self):
        self.check_whole_life("huggingface_trainer")

    # promises: B8, D12
    def test_lightning(self):
        self.check_whole_life("lightning_trainer")

    # promises: B8, D12
    def test_fsdp_and_torch_distributed_checkpoint(self):
        self.check_losses_repeat(self.check_whole_life("fsdp_dcp"))

    # promises: B8, D12
    def test_deepspeed(self):
        folder = self.home.path / "zero"
        self.check_losses_repeat(self.check_whole_life("deepspeed_zero", f"--folder={folder}"))


if __name__ == "__main__":
    if frameworks.python() is None:
        print("skipped: frameworks are not installed; `make frameworks` installs them")
        sys.exit(frameworks.SKIPPED)
    unittest.main()
