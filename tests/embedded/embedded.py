"""The embedded API server as a process of a test."""

import http.client
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "cluster"), str(ROOT / "tests" / "runtime")]

from client import Client  # noqa: E402

PROGRAM = Path(os.environ.get("AMDAHL_EMBEDDED", ROOT / "build/dev/tests/embedded/embedded_server"))


class EmbeddedServer(Client):
    """Keeps its objects in a file of its own, so that it can be killed and started again."""

    DATA = "objects.db"

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="amdahl-embedded-")
        super().__init__(Path(self._folder.name))
        self.kubeconfig = self.certs / "kubeconfig"
        self.port = 0
        self._token = secrets.token_hex(32)
        self._process = None

    def __enter__(self) -> "EmbeddedServer":
        return self.up()

    def __exit__(self, *_) -> None:
        self.down()

    def up(self) -> "EmbeddedServer":
        """Starts it, the second time on the same port and file."""
        if not PROGRAM.exists():
            raise RuntimeError(f"{PROGRAM} is missing: run `make build`")
        command = [PROGRAM, "--kubeconfig", self.kubeconfig, "--data", self.certs / self.DATA,
                   "--port", str(self.port), "--token", self._token]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self._process.stdout.readline()
        if not line.startswith("ready "):
            raise RuntimeError(f"the embedded server ended with {self._process.wait()}")
        self.port = int(line.split()[1])
        return self

    def kill_only(self) -> None:
        """SIGKILL while others may still use their connections; close() is for afterwards."""
        self._process.kill()
        self._process.wait(timeout=30)
        self._process.stdout.close()

    # --- what the suite of the foundations does to a server

    def start_apiserver(self) -> None:
        self.up()

    def stop_apiserver(self, kill: bool = False) -> None:
        self._end(signal.SIGKILL if kill else signal.SIGTERM)

    def restart_apiserver(self, kill: bool = False) -> None:
        self.stop_apiserver(kill)
        self.up()

    def compact(self) -> None:
        """Nothing to do: what happened before its start, a server has already forgotten."""

    def mark(self) -> None:
        """Keeps a copy of the objects for rewind()."""
        self.stop_apiserver()
        self._copy("", ".mark")
        self.up()

    def rewind(self) -> None:
        """Back to the mark: versions already handed out come again."""
        self.stop_apiserver()
        self._copy(".mark", "")
        self.up()

    def _copy(self, source: str, target: str) -> None:
        shutil.copyfile(self.certs / (self.DATA + source), self.certs / (self.DATA + target))
        for rest in ("-wal", "-shm"):  # an orderly end leaves nothing in them
            (self.certs / (self.DATA + rest)).unlink(missing_ok=True)

    def down(self) -> None:
        code = self._end(signal.SIGTERM)
        self._folder.cleanup()
        if code:
            raise RuntimeError(f"the embedded server ended with {code}")

    def token(self, context: str = "admin") -> str:
        return self._token

    def _new_connection(self, timeout: float) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def _end(self, number: int) -> int:
        self.close()
        if self._process.poll() is None:
            self._process.send_signal(number)
        code = self._process.wait(timeout=30)
        self._process.stdout.close()
        return code
