"""The training of train_tiny.py with amdahl.checkpoint: copied, then written behind it.

On the embedded cluster: examples/local-checkpoints.yaml. Needs libamdahl-checkpoint.so, which
`make demo` and `make release` build.
"""

from amdahl import checkpoint

from train_tiny import Trainer, main


class CheckpointedTrainer(Trainer):
    def should_stop(self) -> bool:
        return checkpoint.should_stop()  # which knows of a pause whose save has failed

    def restore(self) -> None:
        """Every rank calls load(), and all get the same step."""
        with self.here.phase("CheckpointRestore"):
            loaded = checkpoint.load()
        if not loaded:
            return
        self.model.load_state_dict(loaded.state["model"])
        self.optimizer.load_state_dict(loaded.state["optimizer"])
        self.done = loaded.step
        if self.here.rank == 0:
            print(f"resumed from step {self.done}", flush=True)

    def save_for_pause(self) -> bool:
        return checkpoint.save_and_wait(self.save, self.done)

    def save(self) -> bool:
        """Returns when everything is copied. A process that ends waits for what it has copied."""
        state = {}
        if self.here.rank == 0:  # all ranks have the same
            state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        with self.here.phase("CheckpointSave"):
            return checkpoint.save(state, self.done, patience=60)


if __name__ == "__main__":
    main(CheckpointedTrainer)
