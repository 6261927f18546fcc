"""A program under measurement: its event lines, its CPU clock, its memory, and its end.

Lines are read by a thread as they come, so a wait costs the client nothing. CPU time is read from
the kernel's clock of that process, in nanoseconds, without asking the process.
"""

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

EXIT_SECONDS = 15
CPU_CLOCK = 2  # CPUCLOCK_SCHED of linux/posix-timers.h: what clock_getcpuclockid(3) builds on


class MeasurementError(RuntimeError):
    """The run gave no usable figure. Unlike a missed bar this fails the command."""


class ClientProcess:
    def __init__(self, name: str, command: list, log: Path):
        self.name, self.log = name, log
        self._lines: list[dict] = []
        self._changed = threading.Condition()
        self._cpu_at: dict[str, float] = {}
        with open(log, "ab") as errors:
            self.started_ns = time.monotonic_ns()
            self._child = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=errors)
        self.pid = self._child.pid
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "ClientProcess":
        return self

    def __exit__(self, failed, *_) -> None:
        self.stop(check=failed is None)

    # --- events

    def wait_for(self, event: str, seconds: float, matching=lambda line: True) -> dict:
        """The first line of that event that matches, seen before or coming within `seconds`."""
        deadline, looked = time.monotonic() + seconds, 0
        with self._changed:
            while True:
                for line in self._lines[looked:]:
                    if line["ev"] == event and matching(line):
                        return line
                looked = len(self._lines)
                left = deadline - time.monotonic()
                if self._ended() or left <= 0:
                    raise MeasurementError(self._failure(event, seconds))
                self._changed.wait(min(left, 0.5))

    def wait_exit(self, seconds: float) -> None:
        """For programs that end by themselves; anything but success is an error."""
        try:
            code = self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise MeasurementError(f"{self.name} still runs after {seconds} s") from None
        self._reader.join(EXIT_SECONDS)
        if code != 0:
            raise MeasurementError(f"{self.name} ended with {code}: {self._log_tail()}")

    def seqs(self, event: str) -> dict[int, int]:
        """{seq: t_ns} of that event; of several lines with one seq the first."""
        with self._changed:
            seen = [line for line in self._lines if line["ev"] == event]
        return {line["seq"]: line["t_ns"] for line in reversed(seen)}

    # --- what the process costs

    def cpu_seconds(self) -> float:
        return time.clock_gettime((~self.pid << 3) | CPU_CLOCK)

    def cpu_seconds_at(self, event: str) -> float:
        """CPU time when the first line of that event was read; the event must have come."""
        return self._cpu_at[event]

    def usage(self, seconds: float = 30) -> dict:
        """The client's own account; a stripped Go client gives memory back before it answers."""
        with self._changed:
            before = sum(line["ev"] == "rusage" for line in self._lines)
        os.kill(self.pid, signal.SIGUSR1)
        count = 0

        def fresh(line: dict) -> bool:
            nonlocal count
            count += 1
            return count > before

        return self.wait_for("rusage", seconds, fresh)

    def settle(self, seconds: float = 20, quiet_cpu: float = 0.002) -> None:
        """Returns when the process has used next to no CPU for half a second."""
        deadline, last = time.monotonic() + seconds, self.cpu_seconds()
        while time.monotonic() < deadline:
            time.sleep(0.5)
            now = self.cpu_seconds()
            if now - last < quiet_cpu:
                return
            last = now

    # --- life

    @contextlib.contextmanager
    def frozen(self):
        """SIGSTOP for the block; yields when every thread has really stopped."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            deadline = time.monotonic() + 10
            while not self._all_threads_stopped():
                if time.monotonic() > deadline:
                    raise MeasurementError(f"{self.name} did not stop on SIGSTOP")
                time.sleep(0.005)
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def stop(self, check: bool = True) -> None:
        """SIGTERM and a clean exit; what does not end is killed, which is an error."""
        killed = False
        if self._child.poll() is None:
            self._child.terminate()
            try:
                self._child.wait(EXIT_SECONDS)
            except subprocess.TimeoutExpired:
                killed = True
                self._child.kill()
                self._child.wait()
        self._reader.join(EXIT_SECONDS)
        if check and killed:
            raise MeasurementError(f"{self.name} ignored SIGTERM for {EXIT_SECONDS} s")
        if check and self._child.returncode != 0:
            raise MeasurementError(
                f"{self.name} ended with {self._child.returncode}: {self._log_tail()}")

    # --- inside

    def _read(self) -> None:
        with self._child.stdout as lines:
            self._read_lines(lines)
        with self._changed:
            self._changed.notify_all()

    def _read_lines(self, lines) -> None:
        for text in lines:
            try:
                line = json.loads(text)
                event = line["ev"]
            except (ValueError, KeyError, TypeError):
                line = {"ev": "garbage", "text": text.decode(errors="replace")}
                event = "garbage"
            if event not in self._cpu_at:
                with contextlib.suppress(OSError):  # a short-lived writer may be gone by now
                    self._cpu_at[event] = self.cpu_seconds()
            with self._changed:
                self._lines.append(line)
                self._changed.notify_all()

    def _ended(self) -> bool:
        return not self._reader.is_alive() and self._child.poll() is not None

    def _all_threads_stopped(self) -> bool:
        states = [
            (task / "stat").read_text().rpartition(")")[2].split()[0]
            for task in Path(f"/proc/{self.pid}/task").iterdir()
        ]
        return all(state == "T" for state in states)

    def _failure(self, event: str, seconds: float) -> str:
        if self._ended():
            how = f"ended with {self._child.returncode}"
        else:
            how = f"gave none within {seconds:g} s"
        last = self._lines[-1] if self._lines else "nothing"
        what = f"{self.name}: waiting for {event!r}: it {how}; its last line: {last}"
        return f"{what}\n{self._log_tail()}"

    def _log_tail(self, lines: int = 8) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
