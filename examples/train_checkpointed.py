"""The training of train_tiny.py with amdahl.checkpoint: copied, then written behind it.

On the embedded cluster: examples/local-checkpoints.yaml. Needs libamdahl-checkpoint.so, which
AMDAHL_CHECKPOINT_LIBRARY names.
"""

import torch.distributed as dist

from amdahl import checkpoint

from train_tiny import Trainer, main


class CheckpointedTrainer(Trainer):
    def train_step(self) -> float:
        loss = super().train_step()
        checkpoint.default().report()  # a commit that became complete meanwhile
        return loss

    def restore(self) -> None:
        """Rank 0 says which one: another may be committed while the others look for the newest."""
        with self.here.phase("CheckpointRestore"):
            loaded = checkpoint.load() if self.here.rank == 0 else None
            step = [loaded.step if loaded else None]
            dist.broadcast_object_list(step, src=0)
            if step[0] is None:
                return
            loaded = loaded or checkpoint.default().load(step[0])
        self.model.load_state_dict(loaded.state["model"])
        self.optimizer.load_state_dict(loaded.state["optimizer"])
        self.done = loaded.step
        if self.here.rank == 0:
            print(f"resumed from step {self.done}", flush=True)

    def save(self) -> bool:
        """Returns when everything is copied. A process that ends waits for what it has copied."""
        state = {}
        if self.here.rank == 0:  # all ranks have the same
            state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        with self.here.phase("CheckpointSave"):
            return checkpoint.save(state, self.done, patience=60)


if __name__ == "__main__":
    main(CheckpointedTrainer)
