"""The servers of the comparison: the embedded one as a process, and what the kernel says of it."""

import http.client
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import machine
from client_process import MeasurementError

sys.path.insert(0, str(machine.ROOT / "tests" / "cluster"))

import credentials  # noqa: E402
from client import Client  # noqa: E402

READY_SECONDS_MAX = 60
STOP_SECONDS_MAX = 30


class EmbeddedServer(Client):
    """TLS on loopback and one file, in a folder below `home`, which is on the disk to measure."""

    def __init__(self, program: Path, home: Path, log: Path):
        home.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="embedded-", dir=home))
        super().__init__(self.folder / "tls")
        self.kubeconfig, self._program, self._log = self.folder / "kubeconfig", program, log
        self.port, self._process = 0, None
        credentials.create(self.certs)

    def __enter__(self) -> "EmbeddedServer":
        self.up()
        return self

    def __exit__(self, *_) -> None:
        self.down()
        self.remove()

    @property
    def pid(self) -> int:
        return self._process.pid

    def up(self) -> float:
        """Starts it on its file; the seconds from before exec to the first 200 of /readyz."""
        command = [self._program, "--kubeconfig", self.kubeconfig, "--data",
                   self.folder / "objects.db", "--port", self.port, "--tls", self.certs]
        self.close()
        with open(self._log, "ab") as errors:
            start = time.monotonic()
            self._process = subprocess.Popen([str(word) for word in command], text=True,
                                             stdout=subprocess.PIPE, stderr=errors)
        line = self._process.stdout.readline()
        if not line.startswith("ready "):
            code = self._process.wait()
            raise MeasurementError(f"{self._program} ended with {code}; see {self._log}")
        self.port = int(line.split()[1])
        while True:
            try:
                if self.request("GET", "/readyz")[0] == 200:
                    return time.monotonic() - start
            except (OSError, http.client.HTTPException):
                pass
            if time.monotonic() - start > READY_SECONDS_MAX:
                raise MeasurementError(f"not ready after {READY_SECONDS_MAX} s; see {self._log}")
            time.sleep(0.001)

    def down(self) -> None:
        """SIGTERM and a clean exit; anything else is an error."""
        self.close()
        if self._process is None:
            return
        process, self._process = self._process, None
        process.terminate()
        try:
            code = process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        process.stdout.close()
        if code != 0:
            raise MeasurementError(f"{self._program} ended with {code}; see {self._log}")

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def token(self, context: str = "admin") -> str:
        return re.search(r'token: "(\w+)"', self.kubeconfig.read_text())[1]

    def rss_mib(self, peak: bool = False) -> float:
        return rss_mib(self.pid, peak)


def rss_mib(pid: int, peak: bool = False) -> float:
    name = "VmHWM" if peak else "VmRSS"
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{name}:\s*(\d+) kB", status)[1]) / 1024
