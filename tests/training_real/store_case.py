"""Small jobs of train_saves.py on an embedded cluster: what is in their stores, what they say."""

import json
import os
import subprocess
import time
import unittest

from checkpoint_case import LIBRARY, SANITIZER
from job_case import HERE, PYTHON, ROOT, Home

TERMINAL = {"Succeeded", "Failed", "Cancelled"}


def has_numpy() -> bool:
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('numpy') is None)"
    return subprocess.run([PYTHON, "-c", code], timeout=60).returncode == 0


@unittest.skipUnless(has_numpy(), f"{PYTHON} has no numpy: tools/setup installs it")
@unittest.skipUnless(LIBRARY, "AMDAHL_CHECKPOINT_LIBRARY names no library: run it by ctest")
class StoreCase(unittest.TestCase):
    """One cluster for the tests of a class; `environment` is the server's."""

    environment: dict[str, str] = {}

    @classmethod
    def setUpClass(cls):
        cls.home = Home()
        cls.addClassCleanup(cls.home.close)
        cls.home.run("local", "up", "--nodes", "2", "--memory", "64Gi", "--cpu", "64",
                     env=cls.environment)
        cls.python = cls.home.path / "python3"
        preload = f"export LD_PRELOAD={SANITIZER}\n" if SANITIZER else ""
        cls.python.write_text(f"#!/bin/sh\n{preload}export ASAN_OPTIONS=detect_leaks=0\n"
                              f"exec {PYTHON} \"$@\"\n")
        cls.python.chmod(0o755)

    def folder(self, name: str):
        return self.home.path / "stores" / name

    def job(self, name: str, *arguments, checkpoint: dict | None = None, **spec) -> dict:
        """A job that keeps its checkpoints in a folder of its name, unless `checkpoint` says."""
        env = {"PYTHONPATH": str(ROOT / "python"), "AMDAHL_CHECKPOINT_LIBRARY": LIBRARY}
        trainer = {"name": "trainer", "image": "none",
                   "command": [str(self.python), str(HERE / "train_saves.py")],
                   "args": [str(one) for one in arguments],
                   "env": [{"name": key, "value": value} for key, value in env.items()],
                   "resources": {"limits": {"cpu": "100m", "memory": "1Gi"}}}
        return {"apiVersion": "amdahl.dev/v1alpha1", "kind": "TrainingJob",
                "metadata": {"name": name, "namespace": spec.pop("namespace", "default")},
                "spec": {"runtime": "Python", "nodes": 1,
                         "template": {"spec": {"containers": [trainer],
                                               "terminationGracePeriodSeconds": 10}},
                         "checkpoint": {"uri": f"file://{self.folder(name)}", **(checkpoint or {})},
                         "restart": {"maxFailures": 1, "backoff": "0s"}, **spec}}

    def apply(self, job: dict) -> None:
        self.home.run("apply", "-f", "-", text=json.dumps(job))

    def start(self, name: str, *arguments, **options) -> dict:
        job = self.job(name, *arguments, **options)
        self.addCleanup(self.home.run, "delete", "trainingjob", name, "-n",
                        job["metadata"]["namespace"], check=False)
        self.apply(job)
        return job

    def live(self, name: str, namespace: str = "default") -> dict:
        done = self.home.run("get", "trainingjob", name, "-n", namespace, "-o", "json")
        return json.loads(done.stdout)

    def status(self, name: str, namespace: str = "default") -> dict:
        return self.live(name, namespace).get("status", {})

    def condition(self, name: str, namespace: str = "default") -> dict:
        """CheckpointReady."""
        found = self.status(name, namespace).get("conditions", [])
        return next((one for one in found if one["type"] == "CheckpointReady"), {})

    def pods(self, name: str, namespace: str = "default") -> list[dict]:
        done = self.home.run("get", "pods", "-l", f"amdahl.dev/job={name}", "-n", namespace,
                             "-o", "json")
        return json.loads(done.stdout)["items"]

    def log(self, pod: str) -> str:
        return self.home.run("logs", pod, check=False).stdout

    def events(self, name: str) -> list[dict]:
        found = json.loads(self.home.run("get", "events", "-o", "json").stdout)["items"]
        return [one for one in found if one["involvedObject"].get("name") == name
                and one["involvedObject"]["kind"] == "TrainingJob"]

    def until_event(self, name: str, reason: str) -> list[dict]:
        """Those of that reason; an event is written after the status that it tells of."""
        return self.until(lambda: [one for one in self.events(name) if one["reason"] == reason],
                          f"{name}: event {reason}")

    def until(self, ready, what: str, seconds: float = 120):
        deadline = time.monotonic() + seconds
        while not (answer := ready()):
            if time.monotonic() > deadline:
                log = (self.home.data / "log").read_text()[-4000:]
                jobs = self.home.run("get", "trainingjobs,pods", "-A", "-o", "yaml", check=False)
                self.fail(f"not within {seconds} s: {what}\n{jobs.stdout[-12000:]}\n{log}")
            time.sleep(0.1)
        return answer

    def until_phase(self, name: str, phase: str) -> dict:
        def look():
            status = self.status(name)
            if status.get("phase") in TERMINAL - {phase}:
                self.fail(f"{name} is {status['phase']}, not {phase}: {json.dumps(status)}\n"
                          f"{[self.log(pod['metadata']['name']) for pod in self.pods(name)]}")
            return status if status.get("phase") == phase else None
        return self.until(look, f"{name} is {phase}")

    def steps(self, name: str) -> list[int]:
        """Of the committed checkpoints, oldest first."""
        said = self.home.run("checkpoint", "ls", str(self.folder(name)), "-o", "json").stdout
        return sorted(one["step"] for one in json.loads(said))


def sanitizer_without_quarantine() -> dict[str, str]:
    """A build with sanitizers keeps what was freed, which is not what a memory test asks about."""
    words = [os.environ.get("ASAN_OPTIONS", ""), "quarantine_size_mb=1",
             "thread_local_quarantine_size_kb=64", "allocator_release_to_os_interval_ms=100"]
    return {"ASAN_OPTIONS": ":".join(word for word in words if word)}
