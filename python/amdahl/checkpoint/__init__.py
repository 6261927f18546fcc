"""Checkpoints of a training job: copied in a moment, written behind it, committed or not there.

    from amdahl import checkpoint, job

    loaded = checkpoint.load()
    if loaded:
        model.load_state_dict(loaded.state["model"])
        optimizer.load_state_dict(loaded.state["optimizer"])
    for n in range(loaded.step + 1 if loaded else 1, total + 1):
        train(n)
        if checkpoint.should_stop():
            if checkpoint.save_and_wait(save, n):  # committed
                job.exit_paused()
        elif checkpoint.due():
            save()

with

    def save() -> bool:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        return checkpoint.save(state, n, metrics={"loss": loss}, patience=600)

`save()` returns when every tensor is copied, those on the CPU too: they may change at once. Where
checkpoints go is said by AMDAHL_CHECKPOINT_URI, or by `Checkpointer(uri)`: /path, file:///path,
gs://bucket/path or s3://bucket/path.
All ranks call `save()`; each gives what is its own (see `Checkpointer`). Nothing here is pickle.
With torch.distributed all ranks get the same answers of `due()`, `should_stop()` and `load()`: all
of them ask, at the same places.
Frameworks: `hooks` for Hugging Face's Trainer and Lightning, `dcp` for torch's distributed
checkpoints, `capture` for folders that others write (DeepSpeed).
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from amdahl import job
from amdahl.checkpoint import together
from amdahl.checkpoint.cadence import Cadence
from amdahl.checkpoint.checkpointer import Checkpointer, Loaded
from amdahl.checkpoint.directories import capture
from amdahl.checkpoint.library import CheckpointError
from amdahl.checkpoint.pauses import Pauses
from amdahl.checkpoint.restoring import restore_capture
from amdahl.checkpoint.tree import Shard
from amdahl.rank_failure import Tried

__all__ = ["CheckpointError", "Checkpointer", "Loaded", "Shard", "capture", "default", "due",
           "load", "rank", "restore_capture", "save", "save_and_wait", "should_stop", "wait"]

_lock = threading.Lock()
_default: Checkpointer | None = None
_cadence = Cadence()
_pauses = Pauses()


def default() -> Checkpointer:
    """The one of this process, made from the environment when it is first needed."""
    global _default  # noqa: PLW0603
    with _lock:
        if _default is None:
            _default = Checkpointer()
        return _default


def save(state: object, step: int, metrics: dict | None = None, patience: float = 0.0) -> bool:
    """Copies the state at once, however short ago the last save was: due() has the floor.
    False when it was skipped because earlier saves are still being written."""
    return default().save(state, step, metrics=metrics, patience=patience)


def due() -> bool:
    """Whether the interval is over since the last save of this process, in whichever way:
    AMDAHL_CHECKPOINT_INTERVAL_SECONDS, at least a second. What rank 0 says, on all ranks."""
    return _pauses.due(_cadence.asked)


def load() -> Loaded | None:
    """The newest checkpoint that is sound, or nothing. All ranks call it, and get the same step:
    the newest that every rank can read. Before torch.distributed is initialised too. When it fails
    on one rank, all raise: that rank its own error, the others CheckpointError with its reason."""
    own = Tried(default)

    def look(step: int | None, before: int) -> tuple | None:
        found = own().load(step, before=before)
        return found and (found.step, found)

    loaded = together.newest("load", look, own)
    return loaded[1] if loaded else None


def rank() -> int:
    """Of this process among those that save."""
    return default().rank


def wait(seconds: float = 1800.0) -> None:
    """Until all saves so far are committed; raises CheckpointError if the newest could not be."""
    default().wait(seconds)


def save_and_wait(save: Callable[[], object], step: int,
                  checkpointer: Checkpointer | None = None) -> bool:
    """Calls save() and waits: whether this step is committed, the same answer on all ranks.

    save() saves that step in whichever way, by `checkpointer` unless by the default one. What the
    store refuses, and a save that is skipped, are told to the launcher, and training goes on.
    """
    return _pauses.save_and_wait(Tried(lambda: checkpointer or default()), step, save)


def should_stop() -> bool:
    """Whether to save_and_wait() and end: job.should_stop(), the same on all ranks. After a save
    that failed it is no until the next one is due, or until the launcher asks again."""
    # What fails here is raised where the ranks agree next, at this step or soon after.
    reported = None if _default is None else Tried(_default.report)
    return _pauses.wanted(job.should_stop(reported), _cadence.asked)
