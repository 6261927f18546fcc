"""Training jobs of examples/ on an embedded cluster of a test's own."""

import json
import re
import subprocess
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "embedded"))

from local_cli import Home  # noqa: E402

PLACE_OF_VARIABLES = '- {name: PET_MONITOR_INTERVAL, value: "1"}'
# Where there are no namespaces, names of pods come from libnss-wrapper; see its manual.
FOR_SANITIZERS = '- {name: NSS_WRAPPER_DISABLE_DEEPBIND, value: "1"}\n        '
PYTHON = "/usr/bin/python3"  # the one that Debian's torch belongs to
TORCHRUN_PYTHON = ROOT / "tools" / "debian-torch" / "python3"  # the same, as its torchrun needs it


def has_torch() -> bool:
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
    return subprocess.run([PYTHON, "-c", code], timeout=60).returncode == 0


class Job:
    """One TrainingJob: what was applied, and what became of it."""

    def __init__(self, home: Home, example: str, name: str, edits: dict[str, str]):
        self.home, self.name = home, name
        self.folder = home.path / name
        self.folder.mkdir()
        self.checkpoints = self.folder / "checkpoints"
        self.losses_file = self.folder / "losses"
        text = (ROOT / "examples" / example).read_text()
        places = {"/path/to/amdahl": str(ROOT), "/path/to/checkpoints": str(self.checkpoints)}
        for old, new in {**places, **edits}.items():
            assert old in text, f"{example} has no {old!r}"
            text = text.replace(old, new)
        lines = text.splitlines()
        at = lines.index("metadata:") + 1
        lines[at] = f"  name: {name}"
        self.manifest = "\n".join(lines)

    def apply(self, change: tuple[str, str] | None = None) -> None:
        text = self.manifest
        if change is not None:
            assert change[0] in text
            text = text.replace(*change)
        self.home.run("apply", "-f", "-", text=text)

    def status(self) -> dict:
        done = self.home.run("get", "trainingjob", self.name, "-o", "json")
        return json.loads(done.stdout).get("status", {})

    def conditions(self) -> dict[str, str]:
        return {one["type"]: one["status"] for one in self.status().get("conditions", [])}

    def pods(self) -> list[dict]:
        done = self.home.run("get", "pods", "-l", f"amdahl.dev/job={self.name}", "-o", "json")
        return json.loads(done.stdout)["items"]

    def groups(self) -> list[str]:
        done = self.home.run("get", "podgroups", "-o", "json")
        names = [item["metadata"]["name"] for item in json.loads(done.stdout)["items"]]
        return [name for name in names if name.startswith(self.name + "-")]

    def losses(self) -> list[tuple[int, int, float]]:
        """Attempt, step and loss of every step, in the order in which they were made."""
        if not self.losses_file.exists():
            return []
        # A line may be half written, or cut off where its writer was killed.
        whole = [line for line in self.losses_file.read_text().split("\n")[:-1] if line]
        rows = [json.loads(line) for line in whole]
        return [(row["attempt"], row["step"], row["loss"]) for row in rows]

    def last_step(self) -> int:
        return max((step for _, step, _ in self.losses()), default=0)

    def events(self) -> list[str]:
        """Reasons of the job's own events, oldest first."""
        found = json.loads(self.home.run("get", "events", "-o", "json").stdout)["items"]
        mine = [one for one in found if one["involvedObject"].get("name") == self.name
                and one["involvedObject"]["kind"] == "TrainingJob"]
        return [one["reason"] for one in sorted(mine, key=lambda one: one["eventTime"])]

    def describe(self) -> str:
        """For a failed test: everything there is to know."""
        texts = [json.dumps(self.status(), indent=1)]
        for pod in self.pods():
            name = pod["metadata"]["name"]
            said = self.home.run("logs", name, "--tail", "30", check=False)
            texts += [f"--- {name}: {json.dumps(pod['status'])}", said.stdout, said.stderr]
        texts.append((self.home.data / "log").read_text()[-5000:])
        return "\n".join(texts)


class JobCase(unittest.TestCase):
    """A cluster of two nodes for all tests of a class; `prefix` are words before the program."""

    prefix = ()
    example = "local-torchrun.yaml"
    edits: dict[str, str] = {}

    @classmethod
    def setUpClass(cls):
        cls.home = Home(prefix=cls.prefix)
        cls.addClassCleanup(cls.home.close)
        # Room for two jobs of the examples.
        cls.home.run("local", "up", "--nodes", "2", "--gpus", "4", "--memory", "16Gi")

    def start(self, name: str, steps: int, **options) -> Job:
        job = self.make(name, steps, **options)
        self.addCleanup(self.remove, job)
        job.apply()
        return job

    @classmethod
    def make(cls, name: str, steps: int, step_seconds=0.04, checkpoint_steps=20) -> Job:
        losses = cls.home.path / name / "losses"
        return Job(cls.home, cls.example, name, {
            "/path/to/python": str(TORCHRUN_PYTHON), **cls.edits,
            "--steps=400": f"--steps={steps}",
            "--checkpoint-steps=50": f"--checkpoint-steps={checkpoint_steps}",
            PLACE_OF_VARIABLES: FOR_SANITIZERS + PLACE_OF_VARIABLES,
            "--step-seconds=0.05": f"--step-seconds={step_seconds}, --losses={losses}"})

    def remove(self, job: Job) -> None:
        self.home.run("delete", "trainingjob", job.name)

    def until(self, ready, job: Job, what: str, seconds: float = 90):
        deadline = time.monotonic() + seconds
        while not (answer := ready()):
            if time.monotonic() > deadline:
                self.fail(f"{job.name}: not within {seconds} s: {what}\n{job.describe()}")
            time.sleep(0.1)
        return answer

    def until_phase(self, job: Job, phase: str) -> dict:
        ends = {"Succeeded", "Failed", "Cancelled"}

        def look():
            status = job.status()
            if status.get("phase") in ends - {phase}:
                self.fail(f"{job.name} is {status['phase']}, not {phase}\n{job.describe()}")
            return status if status.get("phase") == phase else None
        return self.until(look, job, f"phase {phase}")

    def until_step(self, job: Job, step: int) -> None:
        self.until(lambda: job.last_step() >= step, job, f"step {step}")

    def pause(self, job: Job) -> dict:
        """Once the operator knows of a step: before that it finds nothing to save."""
        self.until(lambda: job.status().get("progress", {}).get("step"), job, "a reported step")
        job.apply(("suspend: false", "suspend: true"))
        return self.until_phase(job, "Paused")

    def resume_without_delay(self, job: Job) -> None:
        """Goes on, now as fast as it can: what a paused job may do, and a test wants to."""
        slow = re.search(r"--step-seconds=[0-9.]+", job.manifest)[0]
        job.manifest = job.manifest.replace(slow, "--step-seconds=0")
        job.apply(("suspend: false", "suspend: true"))
        job.apply()
