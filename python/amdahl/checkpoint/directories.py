"""Folders that others write, as one checkpoint: taken whole, committed or not there.

    engine.save_checkpoint(folder, tag=tag)              # DeepSpeed, on all ranks
    checkpoint.capture(folder, step)                     # on all ranks, after it
    ...
    if checkpoint.restore_capture(folder):               # before engine.load_checkpoint(folder)
        engine.load_checkpoint(folder)

A folder of DeepSpeed has a folder for each tag and a file `latest` that names one. capture() reads
the files of a tag into memory, all of them, and lets go of that when the checkpointer has its copy;
then they may be removed. A file that changes meanwhile is an error. restore_capture() puts
them back, makes them durable, and only then writes `latest`: a crash on the way leaves the
old one. Every byte that comes back is verified.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import secrets
import shutil
import sys
import warnings

from amdahl.checkpoint import library, tree
from amdahl.checkpoint.checkpointer import Checkpointer

LATEST = "latest"
FILES_MAX = 100_000
BYTES_MAX = 1 << 42
LATEST_BYTES_MAX = 4096
PIECE_BYTES_MAX = 64 << 20
PATIENCE_SECONDS = 1800.0


def capture(directory: str, step: int, *, tag: str | None = None,
            checkpointer: Checkpointer | None = None, shared: bool = True) -> bool:
    """Takes the files of a tag, or of the one that `latest` names. All ranks call it.

    shared: all ranks see one folder, and rank 0 takes all. Otherwise each node has its own, and its
    first process takes that. False when it was skipped: earlier saves are still being written.
    """
    own = checkpointer or _default()
    _meet()  # a rank's files are complete when all have come here
    takes = _is_first(own, shared)
    tag = (tag or read_latest(directory)) if takes else ""
    if takes and not tag:
        raise FileNotFoundError(f"{directory} has no file {LATEST!r}: give a tag")
    with _Copied(os.path.join(directory, tag), own.rank) if takes else _Nothing() as copied:
        state = {"kind": "capture", "tag": tag, "files": copied.files} if takes else None
        return own.save_tensors(copied.specs, copied.addresses, state, step,
                                patience=PATIENCE_SECONDS)


def restore_capture(directory: str, step: int | None = None, *,
                    checkpointer: Checkpointer | None = None, shared: bool = True) -> str | None:
    """Writes a step, or the newest that is sound, back; gives its tag, or nothing."""
    own = checkpointer or _default()
    tag = None
    if _is_first(own, shared):
        tag = _restore_newest(own, directory, step)
    _meet()
    return tag or read_latest(directory)


def read_latest(directory: str) -> str | None:
    try:
        with open(os.path.join(directory, LATEST), encoding="utf-8") as file:
            tag = file.read(LATEST_BYTES_MAX).strip()
    except FileNotFoundError:
        return None
    _check_path(tag)
    return tag


class _Nothing:
    """Of a rank that takes none."""

    specs: list = []
    addresses: list = []

    def __enter__(self) -> "_Nothing":
        return self

    def __exit__(self, *_) -> None:
        pass


class _Copied:
    """The files of a folder in memory of our own, until the end of the block.

    Mapped they would need no memory, but one that somebody cuts short meanwhile would end the
    process by SIGBUS, and one that somebody writes to would be torn.
    """

    def __init__(self, folder: str, rank: int) -> None:
        self.specs, self.addresses, self.files = [], [], []
        self._open: list = []
        try:
            self._copy(folder, rank)
        except BaseException:
            self.__exit__()
            raise

    def _copy(self, folder: str, rank: int) -> None:
        before = {path: _look(os.path.join(folder, path)) for path in _paths(folder)}
        total = sum(seen.st_size for seen in before.values())
        if total > BYTES_MAX:
            raise ValueError(f"{folder}: {total} bytes, more than {BYTES_MAX}")
        for path, seen in before.items():
            name = tree.short_name(f"rank{rank}/files/{path}" if rank else f"files/{path}")
            self.specs.append({"name": name, "dtype": "U8", "shape": [seen.st_size]})
            self.files.append({"path": path, "bytes": seen.st_size, "tensor": {"$tensor": name}})
            self.addresses.append(self._read(os.path.join(folder, path), seen.st_size))
        # All at the end: they have to be of one moment.
        others = before.keys() ^ set(_paths(folder))
        if others:
            raise _changed(os.path.join(folder, min(others)), "came or went")
        for path, seen in before.items():
            now = _look(os.path.join(folder, path))
            if now.st_size != seen.st_size:
                raise _changed(os.path.join(folder, path),
                               f"had {seen.st_size} bytes and has {now.st_size}")
            if (now.st_mtime_ns, now.st_ino) != (seen.st_mtime_ns, seen.st_ino):
                raise _changed(os.path.join(folder, path), "was written to or replaced")

    def _read(self, path: str, size: int) -> int:
        if not size:
            return 0
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._open.append(memory)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, "rb", buffering=0) as file, memoryview(memory) as whole:
            at = 0
            while at < size:
                with whole[at:at + PIECE_BYTES_MAX] as piece:
                    got = file.readinto(piece)
                if not got:
                    raise _changed(path, f"had {size} bytes and ends at {at}")
                at += got
        return ctypes.addressof(ctypes.c_char.from_buffer(memory))

    def __enter__(self) -> "_Copied":
        return self

    def __exit__(self, *_) -> None:
        while self._open:
            self._open.pop().close()


def _look(path: str) -> os.stat_result:
    return os.stat(path, follow_symlinks=False)


def _changed(path: str, how: str) -> library.CheckpointError:
    return library.CheckpointError("conflict", f"{path} {how} while it was captured: capture it "
                                   "when its writer is done; nothing was saved")


def _raise(error: OSError) -> None:
    raise error


def _paths(folder: str) -> list:
    """Relative paths of all files below it, in a fixed order."""
    found = []
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{folder} has no files")
    for where, folders, names in os.walk(folder, onerror=_raise):
        for name in [*folders, *names]:
            full = os.path.join(where, name)
            if os.path.islink(full) or not (os.path.isdir(full) or os.path.isfile(full)):
                raise ValueError(f"{full}: no file or folder, cannot be captured")
        found += [os.path.relpath(os.path.join(where, name), folder) for name in names]
        if len(found) > FILES_MAX:
            raise ValueError(f"{folder}: more than {FILES_MAX} files")
    if not found:
        raise FileNotFoundError(f"{folder} has no files")
    return sorted(found)


def _restore_newest(own: Checkpointer, directory: str, step: int | None) -> str | None:
    """Falls back to an older checkpoint when the newest is damaged, as load() does."""
    before = -1
    while True:
        found = own.open_step(step, before=before)
        if found is None:
            return None
        try:
            return _restore(own, directory, found)
        except library.CheckpointError as error:
            if step is not None or error.code not in ("corrupt", "not_found"):
                raise
            warnings.warn(f"checkpoint of step {found['step']} is damaged: {error}",
                          RuntimeWarning, stacklevel=3)
            before = found["step"]


def _restore(own: Checkpointer, directory: str, found: dict) -> str:
    state = found.get("rankState") or found["state"]
    if not isinstance(state, dict) or state.get("kind") != "capture":
        raise library.CheckpointError("invalid", f"step {found['step']} in {own.uri} is no folder "
                                      "that was captured: use amdahl.checkpoint.load()")
    tag = state["tag"]
    _check_path(tag)
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
        _check_path(one["path"])
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


def _check_path(path: object) -> None:
    """What comes from a checkpoint must stay below the folder."""
    if not isinstance(path, str) or "\0" in path or \
            any(part in ("", ".", "..") for part in path.split("/")):
        raise library.CheckpointError("invalid", f"a captured file cannot have the path {path!r}")


def _is_first(own: Checkpointer, shared: bool) -> bool:
    return own.rank == 0 if shared else os.environ.get("LOCAL_RANK", "0") == "0"


def _meet() -> None:
    torch = sys.modules.get("torch")
    if torch is not None and torch.distributed.is_available() and \
            torch.distributed.is_initialized():
        torch.distributed.barrier()


def _default() -> Checkpointer:
    from amdahl import checkpoint  # noqa: PLC0415

    return checkpoint.default()
