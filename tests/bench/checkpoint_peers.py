"""Peers with machinery of their own: DCP in three forms, torchsnapshot, DeepSpeed, Orbax."""

import os
from pathlib import Path

from checkpoint_contestants import Amdahl, Contestant, Safetensors, TorchSave
from checkpoint_floors import sync_tree

WRITER_THREADS = 2


class DcpSync(Contestant):
    syncs = needs_group = True
    file_per_tensor = False

    def writer(self, step: int):
        from torch.distributed.checkpoint import FileSystemWriter

        return FileSystemWriter(self.path(step), thread_count=WRITER_THREADS, sync_files=True,
                                single_file_per_rank=not self.file_per_tensor)

    def save(self, step: int) -> None:
        import torch.distributed.checkpoint as dcp

        dcp.save(self.state.tensors, storage_writer=self.writer(step))

    def load(self, step: int) -> dict:
        import torch.distributed.checkpoint as dcp

        dcp.load(self.model(), checkpoint_id=self.path(step))
        return self.model()


class DcpThread(DcpSync):
    background = True

    def __init__(self, *given):
        from torch.distributed.checkpoint.staging import DefaultStager, StagingOptions

        super().__init__(*given)
        # Kept, as it keeps its copies: warm memory from the second save on. Of the forms that work
        # without a GPU this one holds the trainer for the shortest time.
        self._stager = DefaultStager(StagingOptions(
            use_pinned_memory=False, use_shared_memory=True, use_async_staging=False,
            use_non_blocking_copy=False))

    def save(self, step: int) -> None:
        import torch.distributed.checkpoint as dcp

        self._future = dcp.async_save(self.state.tensors, storage_writer=self.writer(step),
                                      async_stager=self._stager)

    def wait(self, step: int) -> None:
        self._future.result()

    def close(self) -> None:
        self._stager.close()


class DcpProcess(DcpThread):
    def __init__(self, *given):
        from torch.distributed.checkpoint import DefaultSavePlanner

        super().__init__(*given)
        self._planner = DefaultSavePlanner(enable_plan_caching=True)

    def save(self, step: int) -> None:
        import torch.distributed.checkpoint as dcp
        from torch.distributed.checkpoint.state_dict_saver import AsyncCheckpointerType

        self._future = dcp.async_save(
            self.state.tensors, storage_writer=self.writer(step), planner=self._planner,
            async_checkpointer_type=AsyncCheckpointerType.PROCESS, async_stager=self._stager)


class DcpOnAmdahl(DcpSync):
    """dcp.save() with our storage: what a script that has DCP already gets."""

    def __init__(self, *given):
        from amdahl.checkpoint import dcp

        super().__init__(*given)
        uri = str(self.folder / "run")
        self._writer = dcp.StorageWriter(uri, job_uid="bench", keepLast=1)
        self._reader = dcp.StorageReader(uri)

    def save(self, step: int) -> None:
        import torch.distributed.checkpoint as dcp

        dcp.save(self.state.tensors, checkpoint_id=str(step), storage_writer=self._writer)

    def load(self, step: int) -> dict:
        import torch.distributed.checkpoint as dcp

        dcp.load(self.model(), checkpoint_id=str(step), storage_reader=self._reader)
        return self.model()


class Torchsnapshot(Contestant):
    background = needs_group = True

    def save(self, step: int) -> None:
        from torchsnapshot import Snapshot, StateDict

        self._pending = Snapshot.async_take(str(self.path(step)),
                                            {"state": StateDict(**self.state.tensors)})

    def wait(self, step: int) -> None:
        self._pending.wait()
        super().wait(step)

    def load(self, step: int) -> dict:
        from torchsnapshot import Snapshot, StateDict

        into = StateDict(**self.model())
        Snapshot(str(self.path(step))).restore({"state": into})
        return dict(into)


class Deepspeed(Contestant):
    """The real engine's save_checkpoint, its parameters being the state; no optimizer."""

    needs_group = True
    ranks_max = 1  # of a replicated model only rank 0 writes

    def __init__(self, *given):
        import deepspeed
        import torch

        super().__init__(*given)
        module = torch.nn.Module()
        for name, tensor in self.state.tensors.items():
            parameter = torch.nn.Parameter(tensor, requires_grad=False)
            module.register_parameter(name.replace(".", "-"), parameter)
        config = {"train_micro_batch_size_per_gpu": 1}
        self._engine, *_ = deepspeed.initialize(model=module, config=config,
                                                dist_init_required=False)

    def path(self, step: int) -> Path:
        return self.folder / f"global_step{step}"

    def save(self, step: int) -> None:
        self._engine.save_checkpoint(str(self.folder), tag=f"global_step{step}")

    def wait(self, step: int) -> None:
        super().wait(step)
        sync_tree(self.folder / "latest")

    def load(self, step: int) -> dict:
        self._engine.load_checkpoint(str(self.folder), tag=f"global_step{step}")
        return {name.replace("-", "."): parameter.data
                for name, parameter in self._engine.module.named_parameters()}


class Orbax(Contestant):
    """AsyncCheckpointer; TensorStore makes its files durable."""

    background = syncs = maps_files = True
    ranks_max = 1  # several processes need jax.distributed

    def __init__(self, *given):
        import orbax.checkpoint as ocp

        super().__init__(*given)
        self._ocp = ocp
        self._own = ocp.AsyncCheckpointer(ocp.StandardCheckpointHandler())

    def save(self, step: int) -> None:
        self._own.save(self.path(step).absolute(),
                       args=self._ocp.args.StandardSave(self.state.tensors))

    def wait(self, step: int) -> None:
        self._own.wait_until_finished()

    def load(self, step: int) -> dict:
        return self._own.restore(self.path(step).absolute(),
                                 args=self._ocp.args.StandardRestore(self.state.tensors))

    def close(self) -> None:
        self._own.close()


# name: (class, what it runs in, what must be importable there)
CONTESTANTS = {
    "amdahl": (Amdahl, "torch", "amdahl"),
    "torch.save": (TorchSave, "torch", "torch"),
    "safetensors": (Safetensors, "torch", "safetensors"),
    "dcp-sync": (DcpSync, "torch", "torch.distributed.checkpoint"),
    "dcp-thread": (DcpThread, "torch", "torch.distributed.checkpoint.staging"),
    "dcp-process": (DcpProcess, "torch", "torch.distributed.checkpoint.staging"),
    "dcp on amdahl": (DcpOnAmdahl, "torch", "torch.distributed.checkpoint.staging"),
    "torchsnapshot": (Torchsnapshot, "torch", "torchsnapshot"),
    "deepspeed": (Deepspeed, "torch", "deepspeed"),
    "orbax": (Orbax, "jax", "orbax.checkpoint"),
}


def make_group(rank: int, world: int) -> None:
    """gloo; the address is in the environment."""
    import torch.distributed

    os.environ.setdefault("DS_ACCELERATOR", "cpu")
    torch.distributed.init_process_group("gloo", rank=rank, world_size=world)
