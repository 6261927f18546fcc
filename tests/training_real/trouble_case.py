"""Jobs that get into trouble on an embedded cluster: plain Python scripts, and their status."""

import json
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "embedded"))

from local_cli import Home  # noqa: E402

PYTHON = sys.executable
SECONDS = 120  # for one thing to happen on a busy machine


class TroubleCase(unittest.TestCase):
    """One cluster of two nodes for the tests of a class; no two tests share the name of a job."""

    @classmethod
    def setUpClass(cls):
        cls.home = Home()
        cls.addClassCleanup(cls.home.close)
        cls.home.run("local", "up", "--nodes", "2", "--gpus", "4", "--memory", "16Gi")

    def submit(self, name: str, script: str | None, **job) -> None:
        self.create(name, script, **job)
        self.addCleanup(self.home.run, "delete", "trainingjob", name)

    @classmethod
    def create(cls, name: str, script: str | None, nodes: int = 1, pod: dict | None = None,
               limits: dict | None = None, container: dict | None = None, **spec) -> None:
        path = cls.home.path / f"{name}.py"
        if script is not None:
            path.write_text(script)
        container = {"name": "trainer", "image": "none", "command": [PYTHON, str(path)],
                     "env": [{"name": "PYTHONPATH", "value": str(ROOT / "python")}],
                     "resources": {"limits": limits or {"cpu": "100m"}}, **(container or {})}
        job = {"apiVersion": "amdahl.dev/v1alpha1", "kind": "TrainingJob",
               "metadata": {"name": name},
               "spec": {"runtime": "Python", "nodes": nodes,
                        "restart": {"maxFailures": 0, "backoff": "1s"},
                        "template": {"spec": {"terminationGracePeriodSeconds": 2,
                                              "containers": [container], **(pod or {})}}, **spec}}
        cls.home.run("submit", "-", text=json.dumps(job))

    def job(self, name: str) -> dict:
        return json.loads(self.home.run("get", name, "-o", "json").stdout)

    def status(self, name: str) -> dict:
        return self.job(name).get("status", {})

    def until(self, name: str, ready, what: str) -> dict:
        deadline = time.monotonic() + SECONDS
        while not ready(status := self.status(name)):
            if time.monotonic() > deadline:
                log = (self.home.data / "log").read_text()[-4000:]
                self.fail(f"{name}: not within {SECONDS} s: {what}\n{json.dumps(status)}\n{log}")
            time.sleep(0.1)
        return status

    def until_phase(self, name: str, phase: str) -> dict:
        return self.until(name, lambda status: status.get("phase") == phase, phase)

    def until_cause(self, name: str) -> dict:
        def causes(status):
            return [one["cause"] for one in status.get("attempts", []) if "cause" in one]
        return causes(self.until(name, causes, "a cause"))[0]
