"""The amdahl program in a home folder of its own."""

import atexit
import functools
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("AMDAHL_CLI", ROOT / "build/dev/cli/amdahl"))

MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: greeting
data:
  hello: world
---
apiVersion: v1
kind: Namespace
metadata: {name: research}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: research, labels: {team: blue}}
"""


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@functools.cache
def program_of_others() -> Path:
    """The program where any user may run it: a copy, if its folder is closed to them."""
    if all(folder.stat().st_mode & 0o001 for folder in PROGRAM.resolve().parents):
        return PROGRAM
    folder = Path(tempfile.mkdtemp(prefix="amdahl-bin-"))
    atexit.register(shutil.rmtree, folder)
    folder.chmod(0o755)
    for name in ("amdahl", "amdahl-shim", "amdahl-launch"):
        shutil.copy(PROGRAM.with_name(name), folder / name)
    return folder / "amdahl"


class Home:
    """A fresh HOME; whatever still runs in its data folders at the end is stopped.

    `user` runs the program as that user id (only root can), `prefix` are words before it.
    """

    def __init__(self, user=None, prefix=()):
        if not PROGRAM.exists():
            raise RuntimeError(f"{PROGRAM} is missing: run `make build`")
        self.path = Path(tempfile.mkdtemp(prefix="amdahl-home-"))
        self.data = self.path / ".amdahl/local"
        self.folders = {self.data}
        self.program, self.prefix, self.identity = PROGRAM, list(prefix), {}
        if user is not None:
            self.identity = {"user": user, "group": user, "extra_groups": []}
            os.chown(self.path, user, user)
            self.program = program_of_others()

    def close(self) -> None:
        for folder in self.folders:
            if folder.exists():
                self.run("local", "down", "--data", folder, check=False)
        shutil.rmtree(self.path)

    @property
    def environment(self) -> dict:
        kept = {name: value for name, value in os.environ.items()
                if name not in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST")}
        return kept | {"HOME": str(self.path)}

    def run(self, *words, check=True, text=None, env=None) -> subprocess.CompletedProcess:
        done = subprocess.run([*self.prefix, self.program, *map(str, words)], input=text, text=True,
                              timeout=60, capture_output=True, cwd=self.path,
                              env=self.environment | (env or {}), **self.identity)
        if check and done.returncode:
            said = done.stdout + done.stderr
            raise AssertionError(f"amdahl {words}: exit {done.returncode}\n{said}")
        return done

    def start(self, *words, **options) -> subprocess.Popen:
        return subprocess.Popen([*self.prefix, self.program, *map(str, words)], text=True,
                                env=self.environment, cwd=self.path, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **self.identity, **options)

    def status(self, *words) -> dict:
        return json.loads(self.run("local", "status", "-o", "json", *words, check=False).stdout)

    def request(self, path: str, token: str | None) -> tuple[int, bytes]:
        """One GET, with the certificate checked against the folder's own authority."""
        address = self.status()["address"]
        context = ssl.create_default_context(cafile=self.data / "ca.crt")
        port = int(address.rpartition(":")[2])
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=20)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def token(self) -> str:
        return re.search(r'token: "?(\w+)', (self.data / "kubeconfig").read_text())[1]


class LocalTest(unittest.TestCase):
    user = None
    prefix = ()

    def setUp(self):
        self.home = Home(self.user, self.prefix)
        self.addCleanup(self.home.close)

    def refused(self, *words, code=1, **options) -> str:
        done = self.home.run(*words, check=False, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertRegex(done.stderr, r"^amdahl: ")
        return done.stderr
