"""The loop of the guide with two ranks of DistributedDataParallel, by Debian's torch and gloo."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from recipe_case import RecipeCase  # noqa: E402
from job_case import PYTHON, TORCHRUN_PYTHON, has_torch  # noqa: E402


@unittest.skipUnless(has_torch(), f"{PYTHON} has no torch: tools/setup installs it")
class GuideLoop(RecipeCase):
    python = TORCHRUN_PYTHON
    variables = {"PET_MONITOR_INTERVAL": "1"}

    # promises: D3, D12
    def test_it_is_saved_paused_resumed_killed_and_ends_with_all_its_steps(self):
        self.check_losses_repeat(self.check_whole_life("plain_pytorch"))


if __name__ == "__main__":
    unittest.main()
