"""What a program that goes on running prints."""

import subprocess
import threading
import time

SECONDS = 30


class Lines:
    """The lines of a running program, read by a thread until it ends."""

    def __init__(self, process: subprocess.Popen):
        self.process, self.seen = process, []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.seen.append(line.rstrip("\n"))

    def wait_for(self, word: str) -> None:
        deadline = time.monotonic() + SECONDS
        while not any(word in line for line in list(self.seen)):
            if time.monotonic() > deadline:
                raise AssertionError(f"no {word!r} in {self.seen}")
            time.sleep(0.02)

    def end(self) -> int:
        try:
            code = self.process.wait(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"it did not end: {self.seen}") from None
        self._reader.join(timeout=SECONDS)
        return code
