"""Checkpoints of a training job: copied in a moment, written behind it, committed or not there.

    from amdahl import checkpoint

    loaded = checkpoint.load()
    if loaded:
        model.load_state_dict(loaded.state["model"])
        optimizer.load_state_dict(loaded.state["optimizer"])
    for n in range(loaded.step + 1 if loaded else 0, total):
        train(n)
        if checkpoint.due() or checkpoint.should_stop():
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            checkpoint.save(state, n, metrics={"loss": loss})
        if checkpoint.should_stop():
            checkpoint.wait()
            break

`save()` returns when every tensor is copied, those on the CPU too: they may change at once. Where
checkpoints go is said by AMDAHL_CHECKPOINT_URI, or by `Checkpointer(uri)`: /path, file:///path,
gs://bucket/path or s3://bucket/path.
All ranks call `save()`; each gives what is its own (see `Checkpointer`). Nothing here is pickle.
With several ranks let rank 0 ask `due()` and `should_stop()`, and broadcast the answers.
Frameworks: `hooks` for Hugging Face's Trainer and Lightning, `dcp` for torch's distributed
checkpoints, `capture` for folders that others write (DeepSpeed).
"""

from __future__ import annotations

import threading

from amdahl import job
from amdahl.checkpoint.cadence import Cadence
from amdahl.checkpoint.checkpointer import Checkpointer, Loaded
from amdahl.checkpoint.directories import capture, restore_capture
from amdahl.checkpoint.library import CheckpointError
from amdahl.checkpoint.tree import Shard

__all__ = ["CheckpointError", "Checkpointer", "Loaded", "Shard", "capture", "default", "due",
           "load", "restore_capture", "save", "should_stop", "wait"]

_lock = threading.Lock()
_default: Checkpointer | None = None
_cadence = Cadence()


def default() -> Checkpointer:
    """The one of this process, made from the environment when it is first needed."""
    global _default  # noqa: PLW0603
    with _lock:
        if _default is None:
            _default = Checkpointer()
        return _default


def save(state: object, step: int, metrics: dict | None = None, patience: float = 0.0) -> bool:
    """Copies the state; False when it was skipped because earlier saves are still being written."""
    saved = default().save(state, step, metrics=metrics, patience=patience)
    if saved:
        _cadence.saved()
    return saved


def due() -> bool:
    """Whether the interval is over since the last save(): AMDAHL_CHECKPOINT_INTERVAL_SECONDS."""
    return _cadence.due()


def load() -> Loaded | None:
    """The newest checkpoint that is sound, or nothing."""
    return default().load()


def wait(seconds: float = 1800.0) -> None:
    """Until all saves so far are committed; raises CheckpointError if the newest could not be."""
    default().wait(seconds)


def should_stop() -> bool:
    """Whether the launcher asks to save and end; job.should_stop() of one process."""
    if _default is not None:
        _default.report()
    return job.should_stop()
