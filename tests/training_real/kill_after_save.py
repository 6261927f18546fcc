"""The training of examples/train_checkpointed.py, whose first attempt is killed after a save.

Right after: all ranks have copied their state, and nobody has waited for it to be written.
"""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

import torch.distributed as dist  # noqa: E402
from train_checkpointed import CheckpointedTrainer  # noqa: E402
from train_tiny import main  # noqa: E402

KILL_AT = 40


class KilledTrainer(CheckpointedTrainer):
    def save(self) -> bool:
        saved = super().save()
        if self.done == KILL_AT and os.environ["AMDAHL_ATTEMPT"] == "1":
            dist.barrier()
            os.kill(os.getpid(), signal.SIGKILL)
        return saved


if __name__ == "__main__":
    main(KilledTrainer)
