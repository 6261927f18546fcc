"""The embedded cluster with its operator, and a client of its API server."""

import contextlib
import http.client
import json
import ssl
import time

from local_cli import Home

SECONDS = 120  # machines that compile are slow
ENDED = ("Succeeded", "Failed", "Cancelled")


def jobs_path(namespace: str) -> str:
    return f"/apis/amdahl.dev/v1alpha1/namespaces/{namespace}/trainingjobs"


def job_of(name: str, container: dict, **spec) -> dict:
    """A job of one node that runs a plain command."""
    trainer = {"name": "trainer", "image": "none", "command": ["true"]} | container
    template = {"spec": {"terminationGracePeriodSeconds": 1, "containers": [trainer]}}
    return {"apiVersion": "amdahl.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": name},
            "spec": {"runtime": "Python", "nodes": 1, "template": template} | spec}


class OperatorHome(Home):
    def __init__(self, in_memory: bool = True):
        super().__init__()
        self._words = ["--in-memory"] if in_memory else []
        self.up()

    def up(self) -> None:
        self.run("local", "up", *self._words, "--nodes", "1")
        self._token = self.token()
        status = self.status()
        self.pid = status["pid"]
        self._port = int(status["address"].rpartition(":")[2])
        self._tls = ssl.create_default_context(cafile=self.data / "ca.crt")

    def call(self, method: str, path: str, body=None) -> tuple[int, dict]:
        connection = http.client.HTTPSConnection("127.0.0.1", self._port, context=self._tls,
                                                 timeout=SECONDS)
        with contextlib.closing(connection):
            headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def create_job(self, namespace: str, job: dict) -> int:
        return self.call("POST", jobs_path(namespace), job)[0]

    def job(self, namespace: str, name: str) -> dict:
        return self.call("GET", f"{jobs_path(namespace)}/{name}")[1]

    def statuses(self, namespace: str) -> dict[str, dict]:
        items = self.call("GET", jobs_path(namespace))[1]["items"]
        return {one["metadata"]["name"]: one.get("status", {}) for one in items}

    def log(self) -> str:
        return (self.data / "log").read_text()

    def until(self, ready, what, seconds: float = SECONDS):
        """What `ready` returns once that is true; `what` says what is missing."""
        deadline = time.monotonic() + seconds
        while not (answer := ready()):
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {seconds} s: {what()}\n{self.log()[-4000:]}")
            time.sleep(0.1)
        return answer

    def until_phase(self, namespace: str, name: str, phase: str) -> dict:
        def look():
            status = self.job(namespace, name).get("status", {})
            if status.get("phase") in set(ENDED) - {phase}:
                raise AssertionError(f"{name} is {status['phase']}, not {phase}: {status}")
            return status if status.get("phase") == phase else None
        return self.until(look, lambda: f"{name} {phase}: {self.job(namespace, name)}")
