"""Folders that others write, as one checkpoint: taken whole, committed or not there.

    engine.save_checkpoint(folder, tag=tag)              # DeepSpeed, on all ranks
    checkpoint.capture(folder, step)                     # on all ranks, after it
    ...
    if checkpoint.restore_capture(folder):               # before engine.load_checkpoint(folder)
        engine.load_checkpoint(folder)

A folder of DeepSpeed has a folder for each tag and a file `latest` that names one. capture() reads
the files of a tag into memory, all of them, and lets go of that when the checkpointer has its copy;
then they may be removed. A file that changes meanwhile is an error. `restoring` puts them back.
All nodes must see the folder, which is proved at each call, or say shared=False.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import secrets
import sys
import time

from amdahl import agreement
from amdahl.checkpoint import library, together, tree
from amdahl.checkpoint.checkpointer import Checkpointer
from amdahl.rank_failure import Tried

LATEST = "latest"
FILES_MAX = 100_000
BYTES_MAX = 1 << 42
LATEST_BYTES_MAX = 4096
PIECE_BYTES_MAX = 64 << 20
PATIENCE_SECONDS = 1800.0
SEEN_SECONDS_MAX = 10.0  # a filesystem of several nodes may show a new file late
SEEN_EVERY_SECONDS = 0.1


def capture(directory: str, step: int, *, tag: str | None = None,
            checkpointer: Checkpointer | None = None, shared: bool = True) -> bool:
    """Takes the files of a tag, or of the one that `latest` names. All ranks call it.

    shared: all ranks see one folder, and rank 0 takes all; an error if they do not. Otherwise each
    node has its own, and its first process takes that. False when it was skipped: earlier saves are
    still being written.
    """
    tried = Tried(lambda: checkpointer or default())
    meet()  # a rank's files are complete when all have come here
    if shared:
        prove_shared("capture", directory, tried)
    own = tried()
    takes = is_first(own, shared)
    tag = (tag or read_latest(directory)) if takes else ""
    if takes and not tag:
        raise FileNotFoundError(f"{directory} has no file {LATEST!r}: give a tag")
    with _Copied(os.path.join(directory, tag), own.rank) if takes else _Nothing() as copied:
        state = {"kind": "capture", "tag": tag, "files": copied.files} if takes else None
        return own.save_tensors(copied.specs, copied.addresses, state, step,
                                patience=PATIENCE_SECONDS)


def read_latest(directory: str) -> str | None:
    try:
        with open(os.path.join(directory, LATEST), encoding="utf-8") as file:
            tag = file.read(LATEST_BYTES_MAX).strip()
    except FileNotFoundError:
        return None
    check_path(tag)
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


def check_path(path: object) -> None:
    """What comes from a checkpoint must stay below the folder."""
    if not isinstance(path, str) or "\0" in path or \
            any(part in ("", ".", "..") for part in path.split("/")):
        raise library.CheckpointError("invalid", f"a captured file cannot have the path {path!r}")


def is_first(own: Checkpointer, shared: bool) -> bool:
    return own.rank == 0 if shared else os.environ.get("LOCAL_RANK", "0") == "0"


def prove_shared(name: str, directory: str, own: Tried) -> None:
    """An error on all ranks unless all of them see this folder. All ranks call it.

    Else rank 0 would take its node's files for all, and those of the others would be in no
    checkpoint.
    """
    ranks = together.ranks_of(own)
    if ranks is None:
        return
    nonce = agreement.tell_all(name, lambda: _leave_proof(directory, own), ranks=ranks)
    proof = _proof(directory, nonce)
    try:
        if agreement.all_say(name, lambda: _is_seen(proof, own) if nonce >= 0 else False,
                             ranks=ranks):
            return
    finally:
        if ranks.rank == 0:
            with contextlib.suppress(OSError):
                os.unlink(proof)
    raise library.CheckpointError("invalid", f"{directory}: " + (
        "not all ranks see what rank 0 writes there. Name a folder that all nodes share, or pass "
        "shared=False if each node has its own" if nonce >= 0 else "rank 0 cannot write there"))


def _proof(directory: str, nonce: int) -> str:
    return os.path.join(directory, f".amdahl-shared-{nonce:016x}.tmp")


def _leave_proof(directory: str, own: Tried) -> int:
    """Its nonce. Negative when it cannot be written: the others wait to be told."""
    own()
    nonce = secrets.randbits(60)
    try:
        os.makedirs(directory, exist_ok=True)
        with open(_proof(directory, nonce), "x", encoding="utf-8"):
            return nonce
    except OSError as error:
        print(f"amdahl: {error}", file=sys.stderr, flush=True)
        return -1


def _is_seen(path: str, own: Tried) -> bool:
    own()
    began = time.monotonic()
    while not os.path.exists(path):
        if time.monotonic() - began >= SEEN_SECONDS_MAX:
            return False
        time.sleep(SEEN_EVERY_SECONDS)
    return True


def meet() -> None:
    torch = sys.modules.get("torch")
    if torch is not None and torch.distributed.is_available() and \
            torch.distributed.is_initialized():
        torch.distributed.barrier()


def default() -> Checkpointer:
    from amdahl import checkpoint  # noqa: PLC0415

    return checkpoint.default()
