"""torch.distributed.checkpoint over our store: its planners and resharding, our commits.

    import torch.distributed.checkpoint as dcp
    from amdahl.checkpoint.dcp import StorageReader, StorageWriter

    writer = StorageWriter()                  # AMDAHL_CHECKPOINT_URI, or StorageWriter(uri)
    dcp.save(state, checkpoint_id=str(step), storage_writer=writer)
    reader = StorageReader()
    if reader.newest() is not None:           # None on the first run
        dcp.load(state, storage_reader=reader)               # the newest, or checkpoint_id="100"

A checkpoint_id is a step: a number, or text that ends in one. dcp.save() returns when the
checkpoint is committed; before that no reader sees anything of it. Tensors keep their names, so
`amdahl checkpoint export-safetensors` works; other objects are the bytes that torch makes of them,
which is pickle: load them only from where you trust. Needs torch 2.3 or later.
"""

from __future__ import annotations

import io
import os
import re

import torch
import torch.distributed
from torch.distributed.checkpoint import metadata as torch_metadata
from torch.distributed.checkpoint import planner as torch_planner
from torch.distributed.checkpoint import storage as torch_storage

from amdahl import agreement
from amdahl.checkpoint import cadence, library, tensors, tree
from amdahl.checkpoint.checkpointer import Checkpointer

PATIENCE_SECONDS = 1800.0  # for earlier saves to be written
BYTES = "bytes/"  # begins the names of what is no tensor


def step_of(checkpoint_id: object) -> int:
    found = re.search(r"(\d+)/?$", os.fspath(checkpoint_id) if isinstance(
        checkpoint_id, os.PathLike) else str(checkpoint_id))
    if not found:
        raise ValueError(f"checkpoint_id {checkpoint_id!r}: expected a step, or text that ends in "
                         "one")
    return int(found.group(1))


def _is_step(checkpoint_id: object) -> bool:
    try:
        step_of(checkpoint_id)
    except ValueError:
        return False
    return True


class StorageWriter(torch_storage.StorageWriter):
    """Every rank makes one, at the same time, before it saves; it lives for many saves.

    With several ranks it must have torch.distributed. The coordinator is rank 0. async_save() works
    by threads; a process of its own cannot have it. Options are those of `Checkpointer`.
    """

    def __init__(self, uri: str | None = None, **options) -> None:
        if "rank" not in options and torch.distributed.is_initialized():
            options.update(rank=torch.distributed.get_rank(),
                           world_size=torch.distributed.get_world_size())
        self._own = Checkpointer(uri, **options)
        self._step: int | None = None
        self._specs: list = []
        self._kept: list = []

    @property
    def checkpointer(self) -> Checkpointer:
        return self._own

    def reset(self, checkpoint_id: str | os.PathLike | None = None) -> None:
        if checkpoint_id is not None:
            self._step = step_of(checkpoint_id)
        self._specs, self._kept = [], []

    def set_up_storage_writer(self, is_coordinator: bool, *args, **kwargs) -> None:
        if self._step is None:
            raise ValueError("which step? Give dcp.save() a checkpoint_id, such as \"100\"")
        if is_coordinator != (self._own.rank == 0) or not kwargs.get("use_collectives", True):
            raise ValueError("rank 0 must be the coordinator, and collectives must be used")

    def prepare_local_plan(self, plan):
        return plan

    def prepare_global_plan(self, plans: list) -> list:
        return plans

    def write_data(self, plan, planner):
        """Rank 0 keeps its part for finish(), so that nothing is committed before that."""
        cadence.SAVES.note()  # it has begun: by async_save() it may be written for long
        results = []
        for item in plan.items:
            spec, tensor = _described(item, planner.resolve_data(item))
            self._specs.append(spec)
            self._kept.append(tensor)
            results.append(torch_storage.WriteResult(
                index=item.index, size_in_bytes=tensor.numel() * tensor.element_size(),
                storage_data=spec["name"]))
        if self._own.rank:
            self._save(None)
        future = torch.futures.Future()
        future.set_result(results)
        return future

    def finish(self, metadata, results: list) -> None:
        names = {(one.index.fqn, _offset(one.index)): one.storage_data
                 for rank in results for one in rank}
        self._save({"dcp": _metadata_json(metadata, names)})
        self._own.wait(PATIENCE_SECONDS)

    def _save(self, state: object) -> None:
        addresses = [tensor.data_ptr() for tensor in self._kept]
        saved = self._own.save_tensors(self._specs, addresses, tree.Flattener().value(state, ""),
                                       self._step, patience=PATIENCE_SECONDS)
        self._specs, self._kept = [], []
        if not saved:
            raise library.CheckpointError(
                "throttled", f"step {self._step}: earlier saves are still being written after "
                f"{PATIENCE_SECONDS:.0f} s")

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike) -> bool:
        return _is_step(checkpoint_id)

    def __getstate__(self):
        raise TypeError("StorageWriter cannot go to another process: use async_save() with threads")


class StorageReader(torch_storage.StorageReader):
    """The newest checkpoint whose records are sound, or the step of the checkpoint_id.

    Every byte that is read is verified; a damaged one raises CheckpointError with its place.
    """

    def __init__(self, uri: str | None = None, **options) -> None:
        # A reader of its own, whatever this process is: it saves nothing.
        self._own = Checkpointer(uri, **{"rank": 0, "world_size": 1, **options})
        self._step: int | None = None
        self._names: dict = {}

    def reset(self, checkpoint_id: str | os.PathLike | None = None) -> None:
        self._step = None if checkpoint_id is None else step_of(checkpoint_id)

    def read_metadata(self):
        step = self.newest() if self._step is None else self._step
        if step is None:
            raise library.CheckpointError("not_found", f"no checkpoint in {self._own.uri}; on "
                                          "a first run newest() is None: then load nothing")
        found = self._own.open_step(step)
        if not isinstance(found["state"], dict) or "dcp" not in found["state"]:
            raise library.CheckpointError(
                "invalid", f"step {found['step']} in {self._own.uri} was not saved by "
                "torch.distributed.checkpoint: use amdahl.checkpoint.load()")
        metadata, self._names = _metadata_from(tree.restored(found["state"]["dcp"], {}))
        self._sizes = {info["name"]: info["shape"] for info in found["tensors"]}
        return metadata

    def newest(self) -> int | None:
        """The step that dcp.load() reads without a checkpoint_id; None before the first commit.

        All ranks ask, and get one answer, though another step may be committed meanwhile.
        """
        def look() -> int:
            found = self._own.open_step()
            return found["step"] if found else -1

        step = agreement.tell_all("dcp.StorageReader.newest", look)
        return step if step >= 0 else None

    def set_up_storage_reader(self, metadata, is_coordinator: bool, *args, **kwargs) -> None:
        pass

    def prepare_local_plan(self, plan):
        return plan

    def prepare_global_plan(self, plans: list) -> list:
        return plans

    def read_data(self, plan, planner):
        """All slices in one call, which reads them in parallel, into their places if it can."""
        wanted, places, done = [], [], []
        for item in plan.items:
            one, memory, finish = self._reading(item, planner)
            wanted.append(one)
            places.append(memory.data_ptr())
            done.append(finish)
        self._own.read_tensors(wanted, places)
        for finish in done:
            finish()
        future = torch.futures.Future()
        future.set_result(None)
        return future

    def _reading(self, item, planner) -> tuple:
        """What to read, where to, and what to do with it then."""
        index = item.storage_index
        if item.type == torch_planner.LoadItemType.BYTE_IO:
            name = self._names[index.fqn, None]
            memory = torch.empty(self._sizes[name], dtype=torch.uint8)
            wanted = {"name": name, "dtype": "U8", "shape": self._sizes[name]}
            return wanted, memory, lambda: planner.load_bytes(item, io.BytesIO(
                memory.numpy().tobytes()))
        name, dtype = self._names[index.fqn, _offset(index)]
        target = planner.resolve_tensor(item).detach()
        saved = tensors.torch_dtype_of(dtype)
        direct = (target.dtype == saved and target.device.type == "cpu" and
                  target.is_contiguous() and not target.is_conj() and not target.is_neg())
        memory = target if direct else torch.empty(tuple(item.lengths), dtype=saved)
        wanted = {"name": name, "dtype": dtype, "shape": list(item.lengths)}
        if item.lengths:
            wanted["offset"] = [a + b for a, b in zip(index.offset, item.storage_offsets)]

        def finish() -> None:
            if not direct:
                target.copy_(memory)
            planner.commit_tensor(item, target)

        return wanted, memory, finish

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike) -> bool:
        return _is_step(checkpoint_id)


def _offset(index) -> tuple | None:
    return None if index.offset is None else tuple(index.offset)


def _described(item, data) -> tuple:
    """A write item as a tensor of ours."""
    if item.type == torch_planner.WriteItemType.BYTE_IO:
        name = tree.short_name(BYTES + item.index.fqn)
        memory = torch.frombuffer(bytearray(data.getbuffer()), dtype=torch.uint8)
        return {"name": name, "dtype": "U8", "shape": list(memory.shape)}, memory
    name = tree.short_name(item.index.fqn)
    plain = tensors.torch_plain(data.detach(), name)
    spec = {"name": name, "dtype": tensors.torch_dtype(plain, name), "shape": list(plain.shape)}
    if item.tensor_data is not None and tuple(item.tensor_data.size) != tuple(plain.shape):
        spec.update(globalShape=list(item.tensor_data.size),
                    offset=list(item.tensor_data.chunk.offsets))
    return spec, plain


def _metadata_json(metadata, names: dict) -> dict:
    """torch's metadata in plain values; planners have their own in `planner`."""
    entries = {}
    for fqn, entry in metadata.state_dict_metadata.items():
        if isinstance(entry, torch_metadata.BytesStorageMetadata):
            entries[fqn] = {"bytes": names[fqn, None]}
            continue
        chunks = [[list(chunk.offsets), list(chunk.sizes)] for chunk in entry.chunks]
        name = next(names[fqn, tuple(offsets)] for offsets, _ in chunks)
        entries[fqn] = {"name": name, "dtype": tensors.TORCH_DTYPES[str(entry.properties.dtype)],
                        "size": list(entry.size), "chunks": chunks,
                        "requiresGrad": entry.properties.requires_grad}
    return {"version": 1, "entries": entries, "planner": metadata.planner_data}


def _metadata_from(state: dict) -> tuple:
    if state.get("version") != 1:
        raise library.CheckpointError("invalid", f"metadata of version {state.get('version')}")
    entries, names = {}, {}
    for fqn, entry in state["entries"].items():
        if "bytes" in entry:
            entries[fqn] = torch_metadata.BytesStorageMetadata()
            names[fqn, None] = entry["bytes"]
            continue
        chunks = [torch_metadata.ChunkStorageMetadata(torch.Size(offsets), torch.Size(sizes))
                  for offsets, sizes in entry["chunks"]]
        properties = torch_metadata.TensorProperties(
            dtype=tensors.torch_dtype_of(entry["dtype"]), requires_grad=entry["requiresGrad"])
        entries[fqn] = torch_metadata.TensorStorageMetadata(properties, torch.Size(entry["size"]),
                                                            chunks)
        for chunk in chunks:
            names[fqn, tuple(chunk.offsets)] = (entry["name"], entry["dtype"])
    return torch_metadata.Metadata(entries, planner_data=state["planner"]), names
