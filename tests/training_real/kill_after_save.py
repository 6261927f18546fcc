"""The training of examples/train_checkpointed.py, whose first attempt is killed after a save.

Right after: all ranks have copied their state, and nobody has waited for it to be written.
"""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from amdahl import checkpoint  # noqa: E402
from train_checkpointed import CheckpointedTrainer  # noqa: E402
from train_tiny import main  # noqa: E402

KILL_AT = 40
BALLAST = 64 << 20  # floats, so that it is not written before the kill


class KilledTrainer(CheckpointedTrainer):
    def save(self) -> bool:
        if self.done != KILL_AT or os.environ["AMDAHL_ATTEMPT"] != "1":
            return super().save()
        state = {}
        if self.here.rank == 0:
            state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(),
                     "ballast": torch.ones(BALLAST)}
        checkpoint.save(state, self.done)
        dist.barrier()
        os.kill(os.getpid(), signal.SIGKILL)
        return False


if __name__ == "__main__":
    main(KilledTrainer)
