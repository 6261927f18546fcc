"""Jobs whose script a test writes itself, on an embedded cluster of its own."""

import json
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "embedded"))

from local_cli import Home  # noqa: E402

# For Debian's torch 1.13 on Python 3.11, and for names of pods under sanitizers; see job_case.py.
VARIABLES = {"PATH": "/usr/bin:/bin", "PET_REDIRECTS": "9:1", "PET_TEE": "9:1",
             "PET_MONITOR_INTERVAL": "1", "NSS_WRAPPER_DISABLE_DEEPBIND": "1"}
ENDS = {"Succeeded", "Failed", "Cancelled"}


class ScriptCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = Home()
        cls.submitted = {}
        cls.addClassCleanup(cls.home.close)
        cls.home.run("local", "up", "--nodes", "2", "--gpus", "4", "--memory", "16Gi")

    def write(self, name: str, text: str, mode=0o644) -> Path:
        path = self.home.path / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def submit(self, name: str, *command, runtime="Torchrun", gpus=0, env=None, **spec) -> None:
        variables = [{"name": key, "value": value}
                     for key, value in {**VARIABLES, **(env or {})}.items()]
        limits = {"cpu": "500m", "memory": "2Gi"} | ({"nvidia.com/gpu": gpus} if gpus else {})
        container = {"name": "trainer", "image": "none", "command": list(map(str, command)),
                     "env": variables, "resources": {"limits": limits}}
        job = {"apiVersion": "amdahl.dev/v1alpha1", "kind": "TrainingJob",
               "metadata": {"name": name},
               "spec": {"runtime": runtime, "nodes": 1, **spec, "restart": {"backoff": "1s"},
                        "template": {"spec": {"terminationGracePeriodSeconds": 5,
                                              "containers": [container]}}}}
        self.submitted[name] = job
        self.edit(name)
        self.addCleanup(self.home.run, "delete", "trainingjob", name)

    def edit(self, name: str, **spec) -> None:
        self.submitted[name]["spec"].update(spec)
        self.home.run("apply", "-f", "-", text=json.dumps(self.submitted[name]))

    def status(self, name: str) -> dict:
        done = self.home.run("get", "trainingjob", name, "-o", "json")
        return json.loads(done.stdout).get("status", {})

    def until(self, name: str, ready, what: str, seconds=120) -> dict:
        deadline = time.monotonic() + seconds
        while not ready(status := self.status(name)):
            if time.monotonic() > deadline:
                self.fail(f"{name}: not within {seconds} s: {what}\n{json.dumps(status, indent=1)}"
                          f"\n{self.logs(name)}")
            time.sleep(0.1)
        return status

    def until_end(self, name: str, phase: str) -> dict:
        status = self.until(name, lambda seen: seen.get("phase") in ENDS, f"phase {phase}")
        self.assertEqual(status["phase"], phase, f"{json.dumps(status)}\n{self.logs(name)}")
        return status

    def logs(self, name: str) -> str:
        done = self.home.run("logs", f"{name}-1-0", "--tail", "30", check=False)
        return done.stdout + done.stderr
