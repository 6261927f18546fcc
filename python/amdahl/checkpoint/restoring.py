"""Captured folders (`directories`) put back: as they were, or not at all.

The files of a tag are made durable before `latest` names it: a crash on the way leaves the old
one. Every byte that comes back is verified. What the folder had before says nothing about what is
committed, and is not read.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import secrets
import shutil
import warnings
from collections.abc import Callable

from amdahl.checkpoint import library, together
from amdahl.checkpoint.checkpointer import Checkpointer
from amdahl.checkpoint.directories import LATEST, check_path, default, is_first, prove_shared
from amdahl.rank_failure import Tried


def restore_capture(directory: str, step: int | None = None, *,
                    checkpointer: Checkpointer | None = None, shared: bool = True) -> str | None:
    """Writes a step back, or the newest that every node can read; gives its tag.

    All ranks call it and get the same answer. None: nothing is committed.
    shared: all ranks see one folder, an error if they do not; otherwise each node has its own.
    """
    own = Tried(lambda: checkpointer or default())
    if shared:
        prove_shared("restore_capture", directory, own)
    look = functools.partial(_newest, own, directory, shared)
    if step is not None:
        found = together.all_do("restore_capture", functools.partial(look, step, -1), own)
    else:
        found = together.newest("restore_capture", look, own)
    return found[1] if found else None


def _newest(tried: Tried, directory: str, shared: bool, step: int | None,
            before: int) -> tuple | None:
    """(step, tag). Without a step it falls back to an older one when the newest is damaged, as
    load() does."""
    own, damaged = tried(), None
    take = _restore if is_first(own, shared) else _tag_of
    while True:
        found = own.open_step(step, before=before)
        if found is None:
            if damaged:
                raise damaged
            return None
        try:
            return found["step"], take(own, directory, found)
        except library.CheckpointError as error:
            if step is not None or error.code not in together.DAMAGED:
                raise
            warnings.warn(f"checkpoint of step {found['step']} is damaged: {error}",
                          RuntimeWarning, stacklevel=3)
            before, damaged = found["step"], error


def _tag_of(own: Checkpointer, _directory: str, found: dict) -> str:
    state = _state_of(own, found)
    check_path(state["tag"])
    return state["tag"]


def _state_of(own: Checkpointer, found: dict) -> dict:
    state = found.get("rankState") or found["state"]
    if not isinstance(state, dict) or state.get("kind") != "capture":
        raise library.CheckpointError("invalid", f"step {found['step']} in {own.uri} is no folder "
                                      "that was captured: use amdahl.checkpoint.load()")
    return state


def _restore(own: Checkpointer, directory: str, found: dict) -> str:
    state = _state_of(own, found)
    tag = _tag_of(own, directory, found)
    os.makedirs(directory, exist_ok=True)
    hidden = os.path.join(directory, f".{tag}.{secrets.token_hex(4)}.tmp")
    try:
        _write_files(own, hidden, state["files"])
        _put_in_place(hidden, os.path.join(directory, tag))
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    _write_latest(directory, tag)
    return tag


def _write_files(own: Checkpointer, folder: str, files: list) -> None:
    """Through memory that is the files, so that their size does not matter."""
    os.mkdir(folder)
    folders = {folder}
    for one in files:
        check_path(one["path"])
        path = os.path.join(folder, one["path"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        folders.add(os.path.dirname(path))
        with open(path, "xb+") as file:
            file.truncate(one["bytes"])
            if one["bytes"]:
                _fill(own, file, one)
            os.fsync(file.fileno())
    for path in sorted(folders, reverse=True):
        _sync_folder(path)


def _fill(own: Checkpointer, file, one: dict) -> None:
    with mmap.mmap(file.fileno(), one["bytes"]) as memory:
        view = ctypes.c_char.from_buffer(memory)
        try:
            own.read_tensors([{"name": one["tensor"]["$tensor"], "dtype": "U8",
                               "shape": [one["bytes"]]}], [ctypes.addressof(view)])
        finally:
            del view  # else the memory cannot be let go
        memory.flush()


def _put_in_place(folder: str, target: str) -> None:
    old = f"{folder}.old"
    if os.path.exists(target):
        os.rename(target, old)
    os.rename(folder, target)
    _sync_folder(os.path.dirname(target))
    shutil.rmtree(old, ignore_errors=True)


def _write_latest(directory: str, tag: str) -> None:
    path = os.path.join(directory, f".{LATEST}.{secrets.token_hex(4)}.tmp")
    with open(path, "x", encoding="utf-8") as file:
        file.write(tag)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path, os.path.join(directory, LATEST))
    _sync_folder(directory)


def _sync_folder(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
