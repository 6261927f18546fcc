"""Training jobs that run a line of shell on an embedded cluster, and what became of them."""

import json
import time
import unittest
from datetime import datetime

from local_cli import ROOT, Home

SLEEP = "exec sleep 600"
# It hears of a pause, and never saves.
PROMISES = """exec python3 -c '
import time
from amdahl import job
for step in range(6000):
    job.step(step + 1, 6000)
    job.should_stop()
    time.sleep(0.1)'"""


def seconds(first: str, second: str) -> float:
    return (datetime.fromisoformat(second) - datetime.fromisoformat(first)).total_seconds()


class JobCase(unittest.TestCase):
    """One cluster for the tests of a class; no two tests share the name of a job."""

    @classmethod
    def setUpClass(cls):
        cls.home = Home()
        cls.addClassCleanup(cls.home.close)
        cls.home.run("local", "up", "--nodes", "2", "--cpu", "64", "--memory", "64Gi",
                     "--gpus", "8")

    def start(self, name: str, script: str = "exit 0", cpu: str = "100m", **spec) -> dict:
        container = {"name": "trainer", "image": "none", "command": ["sh", "-c", script],
                     "env": [{"name": "PYTHONPATH", "value": str(ROOT / "python")}],
                     "resources": {"limits": {"cpu": cpu, "memory": "1Gi"}}}
        template = {"spec": {"containers": [container | spec.pop("container", {})],
                             "terminationGracePeriodSeconds": 1, **spec.pop("pod", {})}}
        job = {"apiVersion": "amdahl.dev/v1alpha1", "kind": "TrainingJob",
               "metadata": {"name": name},
               "spec": {"runtime": "Python", "nodes": 1, "template": template,
                        "restart": {"maxFailures": 0, "backoff": "0s"}, **spec}}
        self.addCleanup(self.home.run, "delete", "trainingjob", name, check=False)
        self.apply(job)
        return job

    def apply(self, *objects: dict) -> None:
        text = "\n---\n".join(map(json.dumps, objects))
        self.home.run("apply", "--force", "-f", "-", text=text)

    def get(self, kind: str, *words) -> dict:
        return json.loads(self.home.run("get", kind, *words, "-o", "json").stdout)

    def status(self, name: str) -> dict:
        return self.get("trainingjob", name).get("status", {})

    def pods(self, name: str) -> list[dict]:
        return self.get("pods", "-l", f"amdahl.dev/job={name}")["items"]

    def group(self, name: str) -> dict:
        return self.until(lambda: next(
            (one for one in self.get("podgroups")["items"]
             if one["metadata"]["labels"].get("amdahl.dev/job") == name), None), f"{name}: a group")

    def until(self, ready, what: str, within: float = 60):
        deadline = time.monotonic() + within
        while not (answer := ready()):
            if time.monotonic() > deadline:
                seen = self.home.run("get", "trainingjobs,pods,podgroups", "-o", "yaml",
                                     check=False).stdout
                self.fail(f"not within {within} s: {what}\n{seen[-12000:]}")
            time.sleep(0.1)
        return answer

    def until_phase(self, name: str, *phases: str) -> dict:
        def look():
            status = self.status(name)
            return status if status.get("phase") in phases else None
        return self.until(look, f"{name} is {' or '.join(phases)}")

    def failed(self, name: str) -> dict:
        """The condition Failed of a job that ended so."""
        found = self.until_phase(name, "Failed")["conditions"]
        return next(one for one in found if one["type"] == "Failed")

    def log(self, name: str, attempt: int = 1, rank: int = 0) -> str:
        return self.home.run("logs", f"{name}-{attempt}-{rank}").stdout
