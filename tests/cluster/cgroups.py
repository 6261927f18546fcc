"""The cgroups of one test cluster: a folder of its own in every hierarchy of this machine.

They are the one thing that namespaces do not take along when they end.
"""

import os
from pathlib import Path

from process import wait_until

MOUNTS = Path("/proc/self/mounts")
PROGRAMS = "programs"  # of the cluster; its pods have folders of their own beside it
EMPTY_SECONDS = 30  # killed processes leave when the kernel has taken their memory back


def hierarchies() -> list[Path]:
    """One for each controller of version 1, or the one of version 2; both may be there."""
    rows = [line.split() for line in MOUNTS.read_text().splitlines()]
    return [Path(row[1]) for row in rows if row[2] in ("cgroup", "cgroup2")]


def create(name: str) -> None:
    for top in hierarchies():
        (top / name / PROGRAMS).mkdir(parents=True, exist_ok=True)


def enter(name: str) -> None:
    """This process and all that it starts, in one hierarchy: so it can be seen when all are gone.
    """
    # That of the CPU last: there all programs together would get the share of one process.
    for top in sorted(hierarchies(), key=lambda top: (top / name / "cpu.shares").exists()):
        try:
            (top / name / PROGRAMS / "cgroup.procs").write_text("0")
            return
        except OSError:
            pass  # a new cpuset, for one, has no CPUs yet
    raise RuntimeError(f"no hierarchy lets a process into {name}")


def remaining(name: str) -> list[Path]:
    return [top / name for top in hierarchies() if (top / name).exists()]


def remove(name: str) -> None:
    """Waits until nothing runs in them: a cgroup that has a process cannot be removed."""
    def gone() -> bool:
        # The programs first: a kubelet that still lives would make again what is missing.
        for path in remaining(name):
            if not _remove_tree(path / PROGRAMS):
                return False
        return all([_remove_tree(path) for path in remaining(name)])

    if not wait_until(gone, EMPTY_SECONDS, every=0.05):
        raise RuntimeError(f"cgroups are still in use: {', '.join(map(str, remaining(name)))}")


def _remove_tree(path: Path) -> bool:
    """Files of a cgroup cannot be deleted and need not be: only folders, the innermost first."""
    for folder, _, _ in os.walk(path, topdown=False):
        try:
            os.rmdir(folder)
        except OSError:
            return False  # busy: the caller looks again
    return True
