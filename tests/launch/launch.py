"""amdahl-launch as a process of a test, and an operator for it to report to."""

import contextlib
import http.server
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(
    os.environ.get("AMDAHL_LAUNCH", ROOT / "build/dev/cli/amdahl-launch")).resolve()
WAIT_SECONDS = 30


def wait_for(what, seconds=WAIT_SECONDS):
    """The first true answer of what()."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := what():
            return answer
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {what}")


class Launch:
    """One run. Its standard output and error are files, unless a test brings its own."""

    def __init__(self, *command, env=None, streams=None, grace=20, through=()):
        if not PROGRAM.exists():
            raise RuntimeError(f"{PROGRAM} is missing: run `make build`")
        self.folder = tempfile.TemporaryDirectory(prefix="amdahl-launch-test-")
        self.path = Path(self.folder.name)
        self.termination = self.path / "termination-log"
        self.marker = self.path / "marker.json"
        self.out, self.err = self.path / "out", self.path / "err"
        self.env = {"PATH": os.environ["PATH"], "TMPDIR": self.folder.name,
                    "PYTHONPATH": str(ROOT / "python"), "AMDAHL_JOB": "research/llama",
                    "AMDAHL_POD": "llama-1-0", "AMDAHL_ATTEMPT": "1",
                    "AMDAHL_GRACE_SECONDS": str(grace),
                    "AMDAHL_CHECKPOINT_MARKER": str(self.marker),
                    "AMDAHL_TERMINATION_LOG": str(self.termination), **(env or {})}
        # `through`: a program that starts it, and its arguments.
        self.command = [*through, str(PROGRAM), "run", "--", *map(str, command)]
        self.streams = streams
        self.process = None

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            streams = self.streams or {
                "stdout": stack.enter_context(open(self.out, "wb")),
                "stderr": stack.enter_context(open(self.err, "wb"))}
            self.process = subprocess.Popen(self.command, env=self.env, cwd=self.path,
                                            stdin=subprocess.DEVNULL, **streams)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            for child in self.children():  # the observer ends with its parent, the trainer not
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()

    def wait(self, seconds=WAIT_SECONDS):
        return self.process.wait(seconds)

    def signal(self, number):
        self.process.send_signal(number)

    def output(self):
        return self.out.read_text(errors="replace")

    def errors(self):
        return self.err.read_text(errors="replace")

    def said(self, text):
        """Waits until the trainer has printed it."""
        wait_for(lambda: text in self.output())

    def last_word(self):
        return json.loads(self.termination.read_text())

    def children(self, pid=None):
        return children_of(pid or self.process.pid)

    def observer(self):
        """The child that is the same program."""
        def find():
            return next((pid for pid in self.children()
                         if program_of(pid) == PROGRAM.name and name_of(pid) != "checkpointer"),
                        None)
        return wait_for(find)

    def checkpointer(self):
        """The child that writes checkpoints."""
        def find():
            return next((pid for pid in self.children() if name_of(pid) == "checkpointer"), None)
        return wait_for(find)


def children_of(pid):
    found = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def name_of(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def program_of(pid):
    with contextlib.suppress(OSError):
        return Path(os.readlink(f"/proc/{pid}/exe")).name
    return ""


def state_of(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


def python(code):
    """A trainer."""
    return [sys.executable, "-u", "-c", code]


class Operator:
    """Takes reports; `reply` is what it answers, `mode` how it misbehaves."""

    def __init__(self, certificate=None):
        self.reports, self.tokens, self.connections = [], [], 0
        self.reply, self.mode = {"reportEverySeconds": 1}, "ok"
        operator = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 20

            def setup(self):
                super().setup()
                operator.connections += 1

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                operator.take(self, body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # connections of tests that ended
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            scheme = "https"
        self.port = self.server.server_address[1]
        self.url = f"{scheme}://localhost:{self.port}/v1/report"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def take(self, request, body):
        assert request.headers["Host"].endswith(f":{self.port}"), request.headers["Host"]
        self.tokens.append(request.headers.get("Authorization"))
        self.reports.append(json.loads(body))
        if self.mode == "hang":
            time.sleep(10)
        answer = {"garbage": b"<html>\xff</html>", "large": b"x" * 1_000_000,
                  "empty": b""}.get(self.mode, json.dumps(self.reply).encode())
        request.send_response(500 if self.mode == "broken" else 200)
        request.send_header("Content-Length", str(len(answer)))
        request.end_headers()
        request.wfile.write(answer)

    def last(self):
        return self.reports[-1] if self.reports else {}

    def pause_state(self):
        return self.last().get("pause", {}).get("state", "None")
