"""Servers of object stores, each a process on loopback with one bucket."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cluster"))

import build  # noqa: E402

BUCKET = "checkpoints"
START_SECONDS = 30


class Server:
    """`address` for open_store(), `variables` for the environment of whoever uses it."""

    def __init__(self, name: str, address: str, variables: dict[str, str]):
        self.name, self.address, self.variables = name, address, variables


@contextlib.contextmanager
def gcs():
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="amdahl-gcs-") as folder:
        (Path(folder) / "seed" / BUCKET).mkdir(parents=True)
        url = f"http://127.0.0.1:{port}"
        command = [build.program("fake-gcs-server"), "-scheme", "http", "-host", "127.0.0.1",
                   "-port", str(port), "-public-host", f"127.0.0.1:{port}", "-external-url", url,
                   "-backend", "filesystem", "-filesystem-root", f"{folder}/data",
                   "-data", f"{folder}/seed"]
        with running(command, folder, f"{url}/storage/v1/b/{BUCKET}"):
            yield Server("fake-gcs-server", f"gs://{BUCKET}", {"STORAGE_EMULATOR_HOST": url})


@contextlib.contextmanager
def s3():
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="amdahl-s3-") as folder:
        for place in (f"data/{BUCKET}", "sidecar"):
            (Path(folder) / place).mkdir(parents=True)
        url = f"http://127.0.0.1:{port}"
        command = [build.program("versitygw"), "--port", f"127.0.0.1:{port}", "--access", "tester",
                   "--secret", "not-a-secret", "--quiet", "--keep-alive", "posix",
                   "--sidecar", f"{folder}/sidecar", f"{folder}/data"]
        with running(command, folder, url):
            yield Server("versitygw", f"s3://{BUCKET}", {
                "AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "not-a-secret",
                "AWS_ENDPOINT_URL_S3": url, "AWS_REGION": "us-east-1"})


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def running(command: list, folder: str, url: str):
    log = Path(folder) / "log"
    # Our sanitizer's runtime is for Python alone.
    env = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    with open(log, "wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                   cwd=folder, env=env)
    try:
        wait_until_it_answers(process, url, log)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_it_answers(process: subprocess.Popen, url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        with contextlib.suppress(OSError):
            try:
                urllib.request.urlopen(url, timeout=5).close()
                return
            except urllib.error.HTTPError:
                return  # an answer, if no friendly one
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{process.args[0]} does not answer: {log.read_text()[-2000:]}")
        time.sleep(0.1)
