"""How each way of saving is used: the calls its documentation gives, in the form that is fastest.

One object lives in one trainer. save() is what holds the trainer, wait() ends when the peer says
the checkpoint is complete, load() gives {name: tensor}. `syncs`: it makes its files durable by
itself; for the others the bench does, in the time of wait().
"""

import shutil
from pathlib import Path

from checkpoint_floors import sync_tree

WAIT_SECONDS_MAX = 300.0


class Contestant:
    background = False  # save() returns before the checkpoint is complete
    syncs = False
    needs_group = False  # of torch.distributed, with one rank too
    ranks_max = 2
    maps_files = False  # load() may return before every byte is in memory

    def __init__(self, folder: Path, state, rank: int, world: int):
        self.folder, self.state, self.rank, self.world = folder, state, rank, world
        self._model = None

    def model(self) -> dict:
        """Tensors to load into: a trainer has its model before it loads. For peers that can."""
        import torch

        if self._model is None:
            self._model = {name: torch.ones_like(tensor)
                           for name, tensor in self.state.tensors.items()}
        return self._model

    def path(self, step: int) -> Path:
        return self.folder / f"step-{step:06d}"

    def save(self, step: int) -> None:
        raise NotImplementedError

    def wait(self, step: int) -> None:
        if not self.syncs and self.rank == 0:
            sync_tree(self.path(step))

    def load(self, step: int) -> dict:
        raise NotImplementedError

    def forget(self, step: int) -> None:
        """A checkpoint that is no longer needed; not in any measured time."""
        path = self.path(step)
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

    def close(self) -> None:
        pass


class Amdahl(Contestant):
    background, syncs = True, True

    def __init__(self, *given):
        from amdahl import checkpoint

        super().__init__(*given)
        attempt = None if self.world == 1 else _agreed_text()
        self._own = checkpoint.Checkpointer(
            str(self.folder / "run"), job_uid="bench", rank=self.rank, world_size=self.world,
            attempt=attempt, keepLast=1)

    def save(self, step: int) -> None:
        if not self._own.save(self.state.tensors, step):
            raise RuntimeError(f"step {step} was skipped")

    def wait(self, step: int) -> None:
        self._own.wait(WAIT_SECONDS_MAX)

    def load(self, step: int) -> dict:
        return self._own.load(step, into=self.model()).state

    def forget(self, step: int) -> None:
        self._own.settle(WAIT_SECONDS_MAX)  # keepLast: the one before goes after the commit

    def close(self) -> None:
        self._own.close()


class TorchSave(Contestant):
    def path(self, step: int) -> Path:
        return self.folder / f"step-{step:06d}-{self.rank}.pt"

    def wait(self, step: int) -> None:
        sync_tree(self.path(step))

    def save(self, step: int) -> None:
        import torch

        torch.save(self.state.tensors, self.path(step))

    def load(self, step: int) -> dict:
        import torch

        return torch.load(self.path(step))


class Safetensors(TorchSave):
    def path(self, step: int) -> Path:
        return self.folder / f"step-{step:06d}-{self.rank}.safetensors"

    def save(self, step: int) -> None:
        from safetensors.torch import save_file

        save_file(self.state.tensors, self.path(step))

    def load(self, step: int) -> dict:
        from safetensors.torch import load_file

        # It maps the file; a trainer's model is in memory of its own.
        for name, tensor in load_file(self.path(step)).items():
            self.model()[name].copy_(tensor)
        return self.model()


def _agreed_text() -> str:
    """One random text for all ranks."""
    import secrets

    import torch.distributed

    shared = [secrets.token_hex(8)]
    torch.distributed.broadcast_object_list(shared, src=0)
    return shared[0]
