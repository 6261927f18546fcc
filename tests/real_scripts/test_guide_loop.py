"""The loop of the guide with two ranks of DistributedDataParallel, by Debian's torch and gloo; and
what recipes do with a state that they have loaded."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from recipe_case import ROOT, RecipeCase, refuse_pause  # noqa: E402
from checkpoint_case import CheckpointCase  # noqa: E402
from job_case import PYTHON, TORCHRUN_PYTHON, has_torch  # noqa: E402


@unittest.skipUnless(has_torch(), f"{PYTHON} has no torch: tools/setup installs it")
class GuideLoop(RecipeCase):
    python = TORCHRUN_PYTHON
    variables = {"PET_MONITOR_INTERVAL": "1"}

    # promises: D3, D12
    def test_it_is_saved_paused_resumed_killed_and_ends_with_all_its_steps(self):
        self.check_losses_repeat(self.check_whole_life("plain_pytorch"))

    # promises: D2
    def test_a_store_that_fails_costs_no_step(self):
        self.check_refused_pause("plain_pytorch")


class Example(CheckpointCase):
    # promises: D2
    def test_a_store_that_fails_costs_no_step_of_train_checkpointed(self):
        refuse_pause(self, self.start("tiny-refused", 100_000))


# Runs a recipe in this process: it has made all steps already, so that only its restore is seen.
RUN = """
import runpy, sys
from unittest import mock
from amdahl import checkpoint
from amdahl.checkpoint import hooks, reading
def run(script, *words):
    sys.argv = [script, *words]
    runpy.run_path(script)
"""
NANOGPT = RUN + """
import torch
torch.nn.Module.load_state_dict = torch.optim.Optimizer.load_state_dict = lambda *_: None
script = sys.argv[1]
for own in True, False:
    found = reading.Loaded(5, {"model": {}, "optimizer": {}, "rng": 0}, {}, [], own=own)
    with mock.patch.object(checkpoint, "load", return_value=found), \\
            mock.patch.object(hooks, "set_rng_state") as rng:
        run(script, "--steps=5", "--out=/dev/null")
    print(own, rng.call_count)
"""
DEEPSPEED = RUN + """
deepspeed = sys.modules["deepspeed"] = mock.MagicMock()
engine = deepspeed.initialize.return_value = [mock.MagicMock(global_steps=5, global_rank=1)]
script = sys.argv[1]
for path in "/x/global_step5", None:
    engine[0].load_checkpoint.return_value = path, {}
    with mock.patch.object(checkpoint, "restore_capture", return_value="global_step5"):
        try:
            run(script, "--steps=5", "--folder=/x")
            print("goes on")
        except RuntimeError as error:
            print(error)
"""


@unittest.skipUnless(has_torch(), f"{PYTHON} has no torch: tools/setup installs it")
class Restored(unittest.TestCase):
    def run_recipe(self, code: str, script: str) -> list[str]:
        done = subprocess.run(
            [PYTHON, "-c", code, str(ROOT / "examples" / "recipes" / script)], text=True,
            capture_output=True, timeout=120, env={**os.environ, "PYTHONPATH": f"{ROOT}/python"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_generators_of_rank_0_are_not_those_of_a_rank_that_is_new(self):
        self.assertEqual(self.run_recipe(NANOGPT, "nanogpt_loop.py"), ["True 1", "False 0"])

    def test_a_folder_that_deepspeed_cannot_load_is_no_fresh_start(self):
        self.assertEqual(self.run_recipe(DEEPSPEED, "deepspeed_zero.py"),
                         ["goes on", "DeepSpeed cannot load what was restored to /x"])


if __name__ == "__main__":
    unittest.main()
