"""kubectl, and the two servers it is pointed at: the embedded one over TLS and a real one."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "cluster")]

import build  # noqa: E402
import credentials  # noqa: E402
from client import Client  # noqa: E402

PROGRAM = Path(os.environ.get("AMDAHL_EMBEDDED", ROOT / "build/dev/tests/embedded/embedded_server"))
KUBECTL_SECONDS = 60


class TlsEmbeddedServer(Client):
    """The embedded API server with certificates of its own, in memory."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="amdahl-kubectl-")
        self.dir = Path(self._folder.name)
        super().__init__(self.dir / "certs")
        self.kubeconfig, self.port, self._process = self.dir / "kubeconfig", 0, None

    def __enter__(self) -> "TlsEmbeddedServer":
        if not PROGRAM.exists():
            raise RuntimeError(f"{PROGRAM} is missing: run `make build`")
        credentials.create(self.certs)
        command = [PROGRAM, "--kubeconfig", self.kubeconfig, "--tls", self.certs]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self._process.stdout.readline()
        if not line.startswith("ready "):
            raise RuntimeError(f"the embedded server ended with {self._process.wait()}")
        self.port = int(line.split()[1])
        return self

    def __exit__(self, *_) -> None:
        self.close()
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(timeout=60)
        self._process.stdout.close()
        self._folder.cleanup()
        if code:
            raise RuntimeError(f"the embedded server ended with {code}")

    def token(self, context: str = "admin") -> str:
        return re.search(r'token: "(\w+)"', self.kubeconfig.read_text())[1]


class Kubectl:
    """kubectl with nothing of the user's: own kubeconfig, home and cache."""

    def __init__(self, kubeconfig: Path, home: Path):
        home.mkdir(exist_ok=True)
        self.home = home
        self._env = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home),
                     "KUBECONFIG": str(kubeconfig), "TZ": "UTC"}

    def start(self, *words: str, env: dict | None = None, **kwargs) -> subprocess.Popen:
        return subprocess.Popen([build.program("kubectl"), *words], text=True, cwd=self.home,
                                env=self._env | (env or {}), **kwargs)

    def run(self, *words: str, stdin: str | None = None, env: dict | None = None):
        """Exit code, standard output, standard error."""
        pipe = subprocess.PIPE
        with self.start(*words, env=env, stdin=pipe, stdout=pipe, stderr=pipe) as process:
            try:
                out, err = process.communicate(stdin or "", timeout=KUBECTL_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                err += f"\nstopped after {KUBECTL_SECONDS} s"
        return process.returncode, out, err


# What differs between two servers that do the same.
NORMAL = (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000( UTC)?)", "TIME"),
    (r"(Sun|Mon|Tue|Wed|Thu|Fri|Sat), \d\d \w+ \d{4} \d\d:\d\d:\d\d \+0000", "TIME"),
    (r'("?resourceVersion"?: ?)"\d+"', r'\1"VERSION"'),
    (r"Resource Version: +\d+", "Resource Version: VERSION"),
    (r"/\S*/(LIVE|MERGED)-\d+/", r"\1/"),
    (r"https://127\.0\.0\.1:\d+", "SERVER"),
    (r"(?<![\w.-])\d+(m\d*)?s( ago)?(?![\w.-])", "AGE"),
    (r"[ \t]+", " "),
    (r" +\n", "\n"),
)


def normal(text: str) -> str:
    for pattern, instead in NORMAL:
        text = re.sub(pattern, instead, text)
    return text
