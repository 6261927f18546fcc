"""What no checkpoint can be faster than on this machine, and what is needed to measure fairly."""

import ctypes
import mmap
import os
import resource
import time
from pathlib import Path

from machine import cpu_seconds

PIECE_BYTES = 8 << 20
MADV_POPULATE_WRITE = 23  # Linux 5.14
libc = ctypes.CDLL(None, use_errno=True)


def touch_memory(size: int) -> None:
    """Takes, touches and gives back memory: pages a virtual machine's host has not backed yet
    cost many times a plain copy, and whoever meets them first would pay for all."""
    with mmap.mmap(-1, max(size, mmap.PAGESIZE), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        try:
            memory.madvise(MADV_POPULATE_WRITE)
        except (OSError, ValueError):
            for at in range(0, len(memory), mmap.PAGESIZE):
                memory[at] = 1


class Floors:
    """A copy into warm pages, a buffered write with fsync, a read of cached pages; one thread."""

    def __init__(self, folder: Path, state):
        self._path, self._state = folder / "floor", state
        self._memory = mmap.mmap(-1, state.bytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._copy()

    def measure(self) -> dict[str, float]:
        found = {}
        for name, work in (("memcpy", self._copy), ("write", self._write), ("read", self._read)):
            begin = time.perf_counter()
            work()
            found[name] = time.perf_counter() - begin
        self._path.unlink()
        return found

    def _copy(self) -> None:
        at = self._address
        for source, size in self._state.sources():
            ctypes.memmove(at, source, size)
            at += size

    def _write(self) -> None:
        view = memoryview(self._memory)
        with open(self._path, "wb", buffering=0) as file:
            for at in range(0, len(view), PIECE_BYTES):
                file.write(view[at:at + PIECE_BYTES])
            os.fsync(file.fileno())

    def _read(self) -> None:
        view = memoryview(self._memory)
        with open(self._path, "rb", buffering=0) as file:
            for at in range(0, len(view), PIECE_BYTES):
                file.readinto(view[at:at + PIECE_BYTES])


def sync_tree(path: Path) -> None:
    """What a peer leaves to the page cache is made durable: files, then their folders."""
    paths = [path] if path.is_file() else [path, *path.rglob("*")]
    for one in [p for p in paths if p.is_file()] + [p for p in paths if p.is_dir()] + [path.parent]:
        descriptor = os.open(one, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _descendants(pid: int) -> list[int]:
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            words = path.read_text().split()
        except OSError:  # the thread has ended
            continue
        for word in words:
            found += [int(word), *_descendants(int(word))]
    return found


def cpu_of_all() -> float:
    """CPU seconds of this process, its threads, and every process it has started."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = time.process_time() + ended.ru_utime + ended.ru_stime
    for pid in _descendants(os.getpid()):
        try:
            total += cpu_seconds(pid)
        except OSError:
            continue
    return total
