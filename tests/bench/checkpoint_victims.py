"""Ways of saving as people use them, for kills: a fixed name, in place, or a name per step.

Every tensor holds the number of its step, so that a mixture of two steps is seen. resume() is what
each documents for a restart; orphan_bytes() is what is left behind after it, by its own means.
"""

from pathlib import Path

from checkpoint_peers import Amdahl, DcpSync, DcpThread, Deepspeed, Orbax, Safetensors
from checkpoint_peers import Torchsnapshot, TorchSave

TENSORS = 16


def size_of(paths) -> int:
    return sum(path.stat().st_size for path in paths if path.is_file())


class TaggedTorch:
    def __init__(self, size: int):
        import torch

        self.tensors = {f"layer.{i}": torch.zeros(size // TENSORS // 4) for i in range(TENSORS)}

    def tag(self, step: int) -> None:
        for tensor in self.tensors.values():
            tensor.fill_(step)

    @staticmethod
    def tags(loaded: dict) -> set[float]:
        found = set()
        for tensor in loaded.values():
            found |= {float(tensor.min()), float(tensor.max())}
        return found


class TaggedJax(TaggedTorch):
    def __init__(self, size: int):
        import jax.numpy

        self._full = jax.numpy.full
        self._count = size // TENSORS // 4
        self.tag(0)

    def tag(self, step: int) -> None:
        self.tensors = {f"layer-{i}": self._full(self._count, step, dtype="float32")
                        for i in range(TENSORS)}


class InPlace:
    """Mixed into a contestant: one name for all steps."""

    def path(self, step: int) -> Path:
        return self.folder / "last"

    def wait(self, step: int) -> None:
        if self.background:
            super().wait(step)

    def resume(self) -> dict | None:
        return self.load(0)

    def orphan_bytes(self) -> int:
        return size_of(path for path in self.folder.iterdir() if path != self.path(0))


class NamePerStep(InPlace):
    """A folder for each step; a marker in it says that it is complete."""

    marker = ".metadata"

    def path(self, step: int) -> Path:
        return self.folder / f"step-{step:06d}"

    def _complete(self) -> list[int]:
        return sorted(int(path.parent.name.partition("-")[2])
                      for path in self.folder.glob(f"step-*/{self.marker}"))

    def resume(self) -> dict | None:
        return self.load(self._complete()[-1])

    def orphan_bytes(self) -> int:
        complete = {self.path(step) for step in self._complete()}
        return sum(size_of(path.rglob("*")) for path in self.folder.iterdir()
                   if path not in complete)


class TorchSaveVictim(InPlace, TorchSave):
    pass


class SafetensorsVictim(InPlace, Safetensors):
    pass


class DcpVictim(InPlace, DcpSync):
    def orphan_bytes(self) -> int:
        used = {".metadata", *(f"__0_{i}.distcp" for i in range(TENSORS))}
        return size_of(path for path in self.path(0).iterdir() if path.name not in used)


class DcpPerTensorVictim(DcpVictim):
    file_per_tensor = True


class DcpThreadVictim(InPlace, DcpThread):
    orphan_bytes = DcpVictim.orphan_bytes


class DcpNameVictim(NamePerStep, DcpSync):
    pass


class TorchsnapshotVictim(InPlace, Torchsnapshot):
    def wait(self, step: int) -> None:
        self._pending.wait()

    def orphan_bytes(self) -> int:
        return 0  # in place, under the same names


class DeepspeedVictim(Deepspeed):
    def wait(self, step: int) -> None:
        pass

    def resume(self) -> dict | None:
        where, _ = self._engine.load_checkpoint(str(self.folder))  # by its file `latest`
        if where is None:
            return None
        return {name.replace("-", "."): parameter.data
                for name, parameter in self._engine.module.named_parameters()}

    def orphan_bytes(self) -> int:
        latest = int((self.folder / "latest").read_text().removeprefix("global_step"))
        return sum(size_of(path.rglob("*")) for path in self.folder.glob("global_step*")
                   if int(path.name.removeprefix("global_step")) > latest)


class OrbaxVictim(Orbax):
    """CheckpointManager, which removes what is incomplete when it starts."""

    def __init__(self, *given):
        super().__init__(*given)
        options = self._ocp.CheckpointManagerOptions(max_to_keep=1)
        self._manager = self._ocp.CheckpointManager((self.folder / "run").absolute(),
                                                    options=options)

    def save(self, step: int) -> None:
        self._manager.save(step, args=self._ocp.args.StandardSave(self.state.tensors))

    def wait(self, step: int) -> None:
        self._manager.wait_until_finished()

    def resume(self) -> dict | None:
        step = self._manager.latest_step()
        if step is None:
            return None
        return self._manager.restore(step, args=self._ocp.args.StandardRestore(self.state.tensors))

    def orphan_bytes(self) -> int:
        whole = {str(step) for step in self._manager.all_steps()}
        return sum(size_of(path.rglob("*")) for path in (self.folder / "run").iterdir()
                   if path.name not in whole)


class AmdahlVictim(Amdahl):
    def resume(self) -> dict | None:
        loaded = self._own.load(into=self.model())
        if loaded is None:
            return None
        self._loaded_step = loaded.step
        return loaded.state

    def orphan_bytes(self) -> int:
        """After the next commit and its collection: whatever is not of that commit."""
        step = self._loaded_step + 1
        self.state.tag(step)
        self.save(step)
        self.forget(step)
        root = self.folder / "run"
        return size_of(path for path in root.rglob("*") if path.name != "owner.jsonl"
                       and not path.name.startswith(f"{step:020d}"))


# name: (contestant whose packages it needs, class, it forks: the packages bear being forked)
VICTIMS = {
    "amdahl": ("amdahl", AmdahlVictim, True),
    "torch.save, fixed name": ("torch.save", TorchSaveVictim, True),
    "safetensors, fixed name": ("safetensors", SafetensorsVictim, True),
    "dcp, in place": ("dcp-sync", DcpVictim, True),
    "dcp async, in place": ("dcp-thread", DcpThreadVictim, True),
    "dcp, file per tensor": ("dcp-sync", DcpPerTensorVictim, True),
    "dcp, name per step": ("dcp-sync", DcpNameVictim, True),
    "torchsnapshot, in place": ("torchsnapshot", TorchsnapshotVictim, True),
    "deepspeed": ("deepspeed", DeepspeedVictim, False),
    "orbax": ("orbax", OrbaxVictim, False),
}
