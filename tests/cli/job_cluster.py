"""A cluster with the kind TrainingJob and no operator: the tests play its part."""

import atexit
import contextlib
import functools
import http.client
import json
import os
import pty
import select
import ssl
import subprocess
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "embedded"))

from local_cli import ROOT, Home  # noqa: E402
from program_lines import Lines  # noqa: E402

SECONDS = 20
JOBS = "/apis/amdahl.dev/v1alpha1/namespaces/default/trainingjobs"
PODS = "/api/v1/namespaces/default/pods"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
THEN = "2026-01-02T03:04:05Z"

JOB = """\
apiVersion: amdahl.dev/v1alpha1
kind: TrainingJob
metadata: {%s}
spec:
  runtime: Torchrun
  nodes: 2
  template:
    spec:
      containers:
      - {name: trainer, image: none, command: [train.py], resources: {limits: {nvidia.com/gpu: 4}}}
  checkpoint: {uri: "file:///checkpoints"}
"""


def job_text(name: str) -> str:
    return JOB % f"name: {name}"


def condition(kind: str, status: bool, reason: str, message: str = "") -> dict:
    return {"type": kind, "status": str(status), "reason": reason, "message": message,
            "lastTransitionTime": THEN}


class Cluster(Home):
    """`amdahl local up` with the CRD."""

    def __init__(self):
        super().__init__()
        flags = self.run("local", "up", "--help").stdout
        self.run("local", "up", "--in-memory", *(["--no-operator"] * ("--no-operator" in flags)))
        self.run("apply", "-f", ROOT / "crds/trainingjobs.yaml")
        self._token = self.token()
        self._port = int(self.status()["address"].rpartition(":")[2])
        self._tls = ssl.create_default_context(cafile=self.data / "ca.crt")

    def call(self, method: str, path: str, body=None, kind="application/json") -> dict:
        connection = http.client.HTTPSConnection("127.0.0.1", self._port, context=self._tls,
                                                 timeout=SECONDS)
        with contextlib.closing(connection):
            headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               headers)
            answer = connection.getresponse()
            text = answer.read()
        if answer.status >= 300:
            raise AssertionError(f"{method} {path}: {answer.status} {text.decode()}")
        return json.loads(text)

    def job(self, name: str) -> dict:
        return self.call("GET", f"{JOBS}/{name}")

    def set_status(self, name: str, *conditions: dict, **fields) -> dict:
        """As the operator would, about the spec as it is now."""
        status = {"observedGeneration": self.job(name)["metadata"]["generation"], **fields}
        if conditions:
            status["conditions"] = list(conditions)
        return self.call("PATCH", f"{JOBS}/{name}/status", {"status": status},
                         "application/merge-patch+json")

    def add_pod(self, job: str, attempt: int, rank: int, command=("sleep", "600")) -> str:
        name = f"{job}-{attempt}-{rank}"
        labels = {"amdahl.dev/job": job, "amdahl.dev/attempt": str(attempt),
                  "amdahl.dev/rank": str(rank)}
        containers = [{"name": "trainer", "image": "none", "command": list(command)}]
        self.call("POST", PODS, {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
                     "containers": containers}})
        return name

    def add_event(self, job: str, reason: str, note: str) -> None:
        uid = self.job(job)["metadata"]["uid"]
        self.call("POST", EVENTS, {
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"name": f"{job}-{reason.lower()}"}, "type": "Warning", "reason": reason,
            "note": note, "action": "Watch", "eventTime": "2026-01-02T03:04:05.000000Z",
            "reportingController": "amdahl.dev/training", "reportingInstance": "test",
            "regarding": {"apiVersion": "amdahl.dev/v1alpha1", "kind": "TrainingJob", "name": job,
                          "namespace": "default", "uid": uid}})


@functools.cache
def shared_cluster() -> Cluster:
    cluster = Cluster()
    atexit.register(cluster.close)
    return cluster


class JobTest(unittest.TestCase):
    """One cluster for all tests of a run; every test has jobs of its own names."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = shared_cluster()

    def amdahl(self, *words, code=0, **options) -> str:
        """Standard output, or standard error of a run that was to fail."""
        done = self.cluster.run(*words, check=False, **options)
        self.assertEqual(done.returncode, code, f"amdahl {words}\n{done.stdout}{done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def submit(self, name: str) -> None:
        self.amdahl("submit", "-", text=job_text(name))

    def wait_for_spec(self, name: str, **fields) -> None:
        deadline = time.monotonic() + SECONDS
        while not fields.items() <= self.cluster.job(name)["spec"].items():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def on_terminal(self, *words, answer: str = "") -> tuple[int, str]:
        """Runs with a terminal as standard input and output."""
        mine, theirs = pty.openpty()
        process = subprocess.Popen([self.cluster.program, *words], stdin=theirs, stdout=theirs,
                                   stderr=theirs, env=self.cluster.environment)
        os.close(theirs)
        if answer:
            os.write(mine, f"{answer}\n".encode())
        shown, deadline = b"", time.monotonic() + SECONDS
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while time.monotonic() < deadline:
                if select.select([mine], [], [], 0.05)[0]:
                    shown += os.read(mine, 65536)
        os.close(mine)
        return process.wait(timeout=SECONDS), shown.decode()

    @contextlib.contextmanager
    def started(self, *words):
        with self.cluster.start(*words) as process:
            try:
                yield Lines(process)
            finally:
                process.kill()
