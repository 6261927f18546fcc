"""Drives the `runtime_probe` program: our client and controller runtime, seen from outside."""

import json
import os
import queue
import signal
import subprocess
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("AMDAHL_PROBE", ROOT / "build/dev/tests/runtime/runtime_probe"))
WAIT_SECONDS = 60  # a machine that is compiling is slow; nothing here takes more than a few seconds


class Probe:
    """One process. Every line it prints is an event with a key `ev`."""

    def __init__(self, *args: str):
        if not PROGRAM.exists():
            raise RuntimeError(f"{PROGRAM} is missing: run `make cluster-test`, which builds it")
        self.process = subprocess.Popen([PROGRAM, *args], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, bufsize=1)
        self.seen: list[dict] = []
        self._fresh: queue.Queue = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "Probe":
        return self

    def __exit__(self, *_) -> None:
        self.end()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._fresh.put(json.loads(line))

    def wait(self, ev: str, seconds: float = WAIT_SECONDS, **wanted) -> dict:
        """The next event of that name with those values."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                event = self._fresh.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                saw = self.seen[-20:]
                raise AssertionError(f"no {ev} {wanted} in {seconds} s; saw {saw}") from None
            self.seen.append(event)
            if event["ev"] == ev and wanted.items() <= event.items():
                return event

    def count(self, ev: str, **wanted) -> int:
        return sum(e["ev"] == ev and wanted.items() <= e.items() for e in self.seen)

    def dump(self) -> dict:
        self.process.stdin.write("dump\n")
        self.process.stdin.flush()
        return self.wait("dump")

    def stop(self) -> None:
        os.kill(self.process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)

    def end(self) -> int:
        """SIGTERM, and SIGKILL if that does not help; the exit code."""
        if self.process.poll() is None:
            self.go_on()
            self.process.terminate()
        try:
            return self.process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the probe did not end after SIGTERM") from None
        finally:
            self._reader.join(timeout=10)
            self.process.stdin.close()
            self.process.stdout.close()
