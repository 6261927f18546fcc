"""What a trainer needs to be paused and resumed, with or without the package `amdahl`.

With the package the launcher is asked and told over its socket. Without it a pause comes as SIGUSR1
or SIGTERM, and the marker file says that a checkpoint is complete. docs/guides/trainers.md.
"""

import contextlib
import json
import os
import signal
import socket
from pathlib import Path

import torch
import torch.distributed as dist

try:
    from amdahl import job
except ImportError:
    job = None


def checkpoint_folder() -> Path | None:
    """spec.checkpoint.uri as a folder; None when the job keeps no checkpoints."""
    uri = os.environ.get("AMDAHL_CHECKPOINT_URI", "")
    return Path(uri[len("file://"):]) if uri.startswith("file:///") else None


def replace_file(path: Path, write) -> None:
    """A reader finds the old file or the whole new one, whatever happens in between."""
    partial = path.with_name(f".{path.name}.tmp")
    with open(partial, "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)


class Job:
    """This process as one rank of a job. The process group must be there.

    `losses`: rank 0 adds a line of JSON for each step to this file.
    """

    def __init__(self, losses: Path | None = None) -> None:
        self._losses = losses
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self._leads_node = os.environ.get("LOCAL_RANK", "0") == "0"
        self._signalled = False
        if job is None:
            for number in (signal.SIGUSR1, signal.SIGTERM):
                signal.signal(number, self._hear)
        print(f"rank {self.rank} of {self.world} on {socket.gethostname()}", flush=True)

    def _hear(self, *_) -> None:
        self._signalled = True

    def step(self, step: int, total: int, loss: float) -> None:
        """Step is done. The line is one that the launcher understands without the package."""
        if self.rank == 0:
            print(f" iteration {step:8d}/{total:8d} | loss: {loss:.6f} |", flush=True)
            self._note(step, loss)
        if job is not None:
            job.step(step, total, loss=loss)

    def _note(self, step: int, loss: float) -> None:
        if self._losses is None:
            return
        line = {"attempt": int(os.environ.get("AMDAHL_ATTEMPT", "0")), "step": step, "loss": loss}
        with open(self._losses, "a") as file:
            file.write(json.dumps(line) + "\n")

    def phase(self, name: str):
        return job.phase(name) if job is not None else contextlib.nullcontext()

    def should_stop(self) -> bool:
        """Whether any node was asked to stop: all ranks get the same answer at the same step."""
        if job is not None:
            return job.should_stop()  # agrees by itself
        answer = torch.tensor([int(self._signalled)])
        dist.all_reduce(answer, op=dist.ReduceOp.MAX)
        return bool(answer.item())

    def committed(self, step: int, path: Path) -> None:
        """The checkpoint is complete on every rank. Called by all of them."""
        if self.rank == 0 and (marker := os.environ.get("AMDAHL_CHECKPOINT_MARKER")):
            text = json.dumps({"step": step, "path": str(path)})
            replace_file(Path(marker), lambda file: file.write(text.encode()))
        if job is not None and self._leads_node:
            job.committed(step, str(path))

    def last_committed(self) -> Path | None:
        """The checkpoint that the marker names: it was complete on every rank."""
        try:
            with open(os.environ.get("AMDAHL_CHECKPOINT_MARKER", "")) as file:
                return Path(json.load(file)["path"])
        except FileNotFoundError:
            return None

    def failed(self, message: str) -> None:
        """The checkpoint could not be written; the training goes on."""
        print(f"cannot save: {message}", flush=True)
        if job is not None:
            job.failed(message)
