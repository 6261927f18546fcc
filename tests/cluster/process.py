"""A background process kept by a pid file. Nothing here touches a process it did not start."""

import os
import signal
import subprocess
import time
from pathlib import Path


class Process:
    def __init__(self, pid_file: Path, log: Path):
        self.pid_file, self.log = pid_file, log

    def start(self, command: list) -> None:
        words = [str(word) for word in command]
        with open(self.log, "ab") as log:
            # Its own session: Ctrl-C in the caller's terminal must not reach the servers.
            child = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        # The command line is kept with the pid, because a pid alone may be reused by a stranger.
        self.pid_file.write_text("\n".join([str(child.pid), *words]))
        # For a moment after exec the kernel shows an empty command line, as for a dead process.
        wait_until(lambda: self.pid or child.poll() is not None, 5, every=0.001)
        child.returncode = 0  # it outlives this object by design; keeps Popen from warning

    @property
    def pid(self) -> int | None:
        """The pid while the process that start() made is alive, else None."""
        try:
            pid, *words = self.pid_file.read_text().split("\n")
            running = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return None
        if running != "".join(word + "\0" for word in words).encode():
            return None  # gone (a zombie has an empty command line) or somebody else's
        return int(pid)

    def stop(self, grace_seconds: float = 10, kill: bool = False) -> None:
        """SIGTERM, a bounded wait, SIGKILL. Does nothing when the process is not there."""
        for sign, wait in ((signal.SIGTERM, grace_seconds), (signal.SIGKILL, 10)):
            if kill and sign != signal.SIGKILL:
                continue
            if (pid := self.pid) is None:
                break
            os.kill(pid, sign)
            if wait_until(lambda: self.pid is None and _has_left(pid), wait):
                break
        if self.pid is not None:
            raise RuntimeError(f"process {self.pid} survived SIGKILL; its log: {self.log}")
        self._reap()
        self.pid_file.unlink(missing_ok=True)

    def freeze(self) -> None:
        """SIGSTOP, and back only when every thread has really stopped."""
        os.kill(self.pid, signal.SIGSTOP)
        tasks = Path(f"/proc/{self.pid}/task")

        def stopped() -> bool:
            stats = [(task / "stat").read_text() for task in tasks.iterdir()]
            return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)

        if not wait_until(stopped, 10):
            self.thaw()
            raise RuntimeError(f"process {self.pid} did not stop")

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def log_tail(self, lines: int = 15) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _reap(self) -> None:
        try:
            os.waitpid(int(self.pid_file.read_text().split("\n")[0]), os.WNOHANG)
        except (OSError, ValueError):
            pass  # it was started by another run of the script: init reaps it


def _has_left(pid: int) -> bool:
    """A dying process loses its command line first and its sockets, so its port, only later."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return len(tasks) == 1 and state == "Z"


def wait_until(condition, seconds: float, every: float = 0.02) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True
