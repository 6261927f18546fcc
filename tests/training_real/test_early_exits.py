"""A rank that leaves in the middle while the others go on: what a job says of it, while it lasts
and when the others have lost it. Scripts with and without torchrun, on a cluster whose pods run."""

import unittest

from job_case import has_torch
from script_case import VARIABLES
from trouble_case import ROOT, TroubleCase

LEAVES = """\
import os, time
if os.environ["PET_NODE_RANK"] == "1":
    time.sleep(3600)
"""
LEAVES_TORCHRUN = """\
import os, time
time.sleep(3 if os.environ["RANK"] == "0" else 3600)  # long enough to be seen as a rank
"""
# Rank 1 leaves in the middle, as a script does that calls exit() where it should not.
LEAVES_ALL_REDUCE = """\
import os, time
import torch, torch.distributed as dist
from amdahl import job
dist.init_process_group("gloo")
total = 150 if os.environ["TOLD_TOTAL"] == "yes" else None
for step in range(1, 151):
    dist.all_reduce(torch.ones(4))
    time.sleep(0.05)
    job.step(step, total=total)
    if dist.get_rank() == 1 and step == 30:
        os._exit(0)
"""


class EarlyExits(TroubleCase):
    # promises: D10
    def test_a_rank_that_left_early_is_shown_while_the_other_waits(self):
        self.submit("leaves", LEAVES, nodes=2)
        status = self.until("leaves", lambda s: "pending" in s and s["phase"] == "Running",
                            "what looks wrong")
        self.assertEqual(status["pending"]["reason"], "RanksLeftEarly")
        told = self.home.run("diagnose", "leaves", check=False).stdout
        self.assertIn("rank 0 exited with code 0", told)
        self.assertNotIn("nothing is wrong", told)

    # promises: D10
    @unittest.skipUnless(has_torch(), "no torch: tools/setup installs it")
    def test_a_process_that_left_early_is_shown_though_torchrun_keeps_its_pod(self):
        env = [{"name": name, "value": value} for name, value in VARIABLES.items()]
        self.submit("stays", LEAVES_TORCHRUN, runtime="Torchrun", processesPerNode=2,
                    container={"command": [str(self.home.path / "stays.py")], "env": env})
        status = self.until("stays", lambda s: "pending" in s and s["phase"] == "Running",
                            "what looks wrong")
        self.assertEqual(status["pending"]["reason"], "RanksLeftEarly")
        self.assertIn("global rank 0 has ended, and global rank 1 still runs",
                      status["pending"]["message"])

    # promises: B3
    @unittest.skipUnless(has_torch(), "no torch: tools/setup installs it")
    def test_a_rank_that_left_is_the_root_though_torchrun_ends_its_pod_last(self):
        for name, total in (("exits", "yes"), ("exits-quietly", "no")):
            variables = VARIABLES | {"PYTHONPATH": str(ROOT / "python"), "TOLD_TOTAL": total}
            env = [{"name": key, "value": value} for key, value in variables.items()]
            self.submit(name, LEAVES_ALL_REDUCE, nodes=2, runtime="Torchrun",
                        container={"command": [str(self.home.path / f"{name}.py")], "env": env})
        for name, of_total in (("exits", " of 150"), ("exits-quietly", "")):
            cause = self.until_cause(name)
            self.assertEqual((cause["class"], cause.get("rank")), ("EarlyExit", 1), cause)
            self.assertRegex(cause["message"], "rank 1 exited with 0, last heard at step "
                             rf"[0-9]+{of_total}, while rank 0 did not")


if __name__ == "__main__":
    unittest.main()
