"""The machine a run happened on, and who else used it meanwhile."""

import os
import re
import resource
import subprocess
import time
from pathlib import Path

from client_process import CPU_CLOCK

ROOT = Path(__file__).resolve().parents[2]
TICK = os.sysconf("SC_CLK_TCK")


def busy_seconds() -> float:
    """CPU time of the whole machine that was not idle, on all cores, since boot."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    idle, waiting = ticks[3], ticks[4]
    return (sum(ticks) - idle - waiting) / TICK


def cpu_seconds(pid: int) -> float:
    return time.clock_gettime((~pid << 3) | CPU_CLOCK)


class Strangers:
    """How many cores other programs kept busy, on average, while the block ran.

    Ours are this process, its ended children and the given pids. Children must end in the block.
    """

    def __init__(self, pids: list[int]):
        self._pids, self.cores = pids, 0.0

    def __enter__(self) -> "Strangers":
        self._before = (time.monotonic(), busy_seconds(), self._ours())
        return self

    def __exit__(self, *_) -> None:
        now = (time.monotonic(), busy_seconds(), self._ours())
        wall, busy, ours = (after - before for after, before in zip(now, self._before))
        self.cores = max(0.0, (busy - ours) / wall)

    def _ours(self) -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        servers = sum(cpu_seconds(pid) for pid in self._pids)
        return time.process_time() + children.ru_utime + children.ru_stime + servers


def describe() -> dict:
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
    return {
        "cores": len(os.sched_getaffinity(0)),
        "cpu": cpu.group(1) if cpu else "unknown",
        "memory_mib": int(memory.group(1)) // 1024 if memory else 0,
        "kernel": os.uname().release,
        "load_1min": os.getloadavg()[0],
    }


def versions(server: str) -> dict:
    """Of what is compared. `server` is what the API server calls itself."""
    peers = ROOT / "tests" / "bench" / "peers"
    go = (peers / "go-controller-runtime" / "go.mod").read_text()
    rust = (peers / "rust-kube" / "Cargo.lock").read_text()
    return {
        "kube-apiserver": server,
        "controller-runtime": _first(r"sigs\.k8s\.io/controller-runtime (v\S+)", go),
        "kube-rs": _first(r'name = "kube"\nversion = "([^"]+)"', rust),
        "amdahl": git_version(),
    }


def git_version() -> str:
    return _git("describe", "--always", "--dirty")


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found.group(1) if found else "unknown"


def _git(*args: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *args], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "unknown"
