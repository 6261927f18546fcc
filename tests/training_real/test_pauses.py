"""Pauses of plain scripts on the embedded cluster: those that count no steps for us, whose saves
fail, and that go on after their training loop. No torch is needed."""

import json
import os
import re
import shutil
import unittest
import urllib.request

from job_case import PYTHON, ROOT, Job, JobCase
from pause_scripts import DEAF, DIES, MARKER, SAVE_ONLY, SAVED_ALREADY, STOPS_UNSAVED, TRAINER

LIBRARY = os.environ.get("AMDAHL_CHECKPOINT_LIBRARY", "")
SANITIZER = os.environ.get("AMDAHL_SANITIZER_RUNTIME", "")
COMMITTED = r"checkpoint at step \d+ is committed"  # what the CLI says of a good pause


class ScriptJob(Job):
    """One pod, one script; see STEPS."""

    def __init__(self, home, name: str, script: str, steps: int, **options):
        self.home, self.name = home, name
        self.folder = home.path / name
        self.folder.mkdir()
        (self.folder / "train.py").write_text(script)
        failures = options.pop("max_failures", 3)
        variables = {"FOLDER": str(self.folder), "PYTHONPATH": str(ROOT / "python"),
                     "AMDAHL_CHECKPOINT_LIBRARY": LIBRARY,
                     "AMDAHL_CHECKPOINT_MARKER": f"{self.folder}/marker",
                     **({"LD_PRELOAD": SANITIZER, "ASAN_OPTIONS": "detect_leaks=0"}
                        if SANITIZER else {}), **options}
        # Through a shell, so that the runtime of a sanitizer is not amdahl-launch's as well.
        words = " ".join(f"{key}='{value}'" for key, value in variables.items())
        command = f"exec env {words} {PYTHON} {self.folder}/train.py {steps}"
        self.manifest = json.dumps({
            "apiVersion": "amdahl.dev/v1alpha1", "kind": "TrainingJob",
            "metadata": {"name": name},
            "spec": {
                "runtime": "Python", "nodes": 1, "suspend": False,
                "template": {"spec": {"terminationGracePeriodSeconds": 20, "containers": [
                    {"name": "trainer", "image": "none", "command": ["sh", "-c", command],
                     "env": [{"name": "AMDAHL_CHECKPOINT_MARKER",
                              "value": variables["AMDAHL_CHECKPOINT_MARKER"]}],
                     "resources": {"limits": {"cpu": "100m", "memory": "1Gi"}}}]}},
                "checkpoint": {"uri": f"file://{self.folder}/checkpoints",
                               "pause": {"deadline": "1m", "policy": "Committed"}},
                "restart": {"maxFailures": failures, "backoff": "1s"}}})

    def steps(self) -> list[tuple[int, int]]:
        """Attempt and step, in the order in which they were made."""
        path = self.folder / "steps"
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        return [tuple(map(int, line.split())) for line in lines]

    def published(self) -> str:
        path = self.folder / "published"
        return path.read_text() if path.exists() else ""


class PauseCase(JobCase):
    def start_script(self, name: str, script: str, steps: int = 100000, **options) -> ScriptJob:
        job = ScriptJob(self.home, name, script, steps, **options)
        self.addCleanup(self.remove, job)
        job.apply()
        self.until(lambda: len(job.steps()) > 10, job, "ten steps")
        return job

    def amdahl(self, *words, code=0) -> str:
        done = self.home.run(*words, check=False)
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def steps_of(self, job: ScriptJob, attempt: int) -> list[int]:
        return [step for one, step in job.steps() if one == attempt]

    def goes_on(self, job: ScriptJob, attempt: int) -> None:
        """The next attempt makes the step after the last one of this, and none again."""
        last = self.steps_of(job, attempt)[-1]
        self.amdahl("resume", job.name, "--wait")
        self.until(lambda: self.steps_of(job, attempt + 1), job, "a step of the next attempt")
        self.assertEqual(self.steps_of(job, attempt + 1)[0], last + 1)


class WithoutTheLibrary(PauseCase):
    # promises: B2
    def test_a_trainer_with_a_marker_file_loses_nothing(self):
        job = self.start_script("marker", MARKER)
        said = self.amdahl("pause", job.name, "--wait")
        self.assertRegex(said, COMMITTED)
        status = self.until_phase(job, "Paused")
        self.assertEqual(status["pause"]["outcome"], "Committed")
        saved = status["pause"]["step"]
        self.assertGreater(saved, 10)
        self.assertEqual(status["checkpoint"]["lastCommitted"]["step"], saved)
        self.assertEqual(status["attempts"][-1]["lastStep"], saved)
        # It runs on after its save until its pod goes; what counts is that it resumes there.
        self.amdahl("resume", job.name, "--wait")
        self.until(lambda: self.steps_of(job, 2), job, "a step of the second attempt")
        self.assertEqual(self.steps_of(job, 2)[0], saved + 1)

    # promises: B2
    def test_a_trainer_that_cannot_be_asked_runs_on_and_the_user_learns_what_to_add(self):
        job = self.start_script("deaf", DEAF)
        said = self.amdahl("pause", job.name, "--wait", code=1)
        self.assertIn("should_stop()", said)
        self.assertIn("SIGUSR1", said)
        self.assertIn("BestEffort", said)
        before = len(job.steps())
        self.until(lambda: len(job.steps()) > before + 10, job, "more steps")
        self.assertEqual(job.status()["phase"], "Running")
        self.assertEqual({one for one, _ in job.steps()}, {1})
        self.home.run("apply", "-f", "-", text=job.manifest.replace(
            '"policy": "Committed"', '"policy": "BestEffort"').replace(
            '"suspend": false', '"suspend": true'))
        status = self.until_phase(job, "Paused")
        self.assertEqual(status["pause"]["outcome"], "StepsLost")


@unittest.skipUnless(LIBRARY, "AMDAHL_CHECKPOINT_LIBRARY names no library: run it by ctest")
class WithTheLibrary(PauseCase):
    # promises: B2
    def test_a_trainer_that_only_saves_loses_nothing(self):
        job = self.start_script("save-only", SAVE_ONLY)
        self.assertRegex(self.amdahl("pause", job.name, "--wait"), COMMITTED)
        status = self.until_phase(job, "Paused")
        self.assertEqual(status["pause"]["step"], self.steps_of(job, 1)[-1])
        self.goes_on(job, attempt=1)

    # promises: B2
    def test_a_trainer_that_had_saved_before_it_heard_loses_nothing(self):
        job = self.start_script("saved-already", SAVED_ALREADY)
        self.assertRegex(self.amdahl("pause", job.name, "--wait"), COMMITTED)
        status = self.until_phase(job, "Paused")
        self.assertEqual(status["pause"]["outcome"], "Committed")
        self.assertEqual(status["pause"]["step"], self.steps_of(job, 1)[-1])
        self.goes_on(job, attempt=1)

    # promises: D2
    def test_a_trainer_that_stops_unsaved_has_not_succeeded(self):
        job = self.start_script("stops-unsaved", STOPS_UNSAVED)
        self.amdahl("pause", job.name)
        # Its next checkpoint ends the pause, as that of an attempt which is not asked to stop.
        status = self.until_phase(job, "Paused")
        self.assertEqual(status["pause"]["outcome"], "Committed")
        self.assertEqual([one["outcome"] for one in status["attempts"]], ["Paused", "Paused"])
        self.assertEqual(status["attempts"][1]["resumedFromStep"],
                         self.steps_of(job, 2)[0] - 1)

    def start_unwritable(self, name: str, script: str, **options) -> ScriptJob:
        """Its checkpoints would lie below a regular file: root may write into any folder."""
        job = self.start_script(name, script, **options)
        shutil.rmtree(job.folder / "checkpoints", ignore_errors=True)
        (job.folder / "checkpoints").write_text("")
        return job

    # promises: D2
    def test_a_save_that_fails_is_seen_and_a_pause_that_fails_lets_the_job_run_on(self):
        job = self.start_unwritable("unwritable", TRAINER)
        said = self.amdahl("pause", job.name, "--wait", code=1)
        self.assertIn("not paused: refused", said)
        self.assertIn("Not a directory", said)
        before = len(job.steps())
        self.until(lambda: len(job.steps()) > before + 10, job, "more steps")
        status = job.status()
        self.assertEqual((status["phase"], status["attempt"]), ("Running", 1))
        self.assertEqual({one for one, _ in job.steps()}, {1})
        self.assertEqual(job.published(), "")
        self.until(lambda: job.status().get("checkpoint", {}).get("failedSaves"), job,
                   "a failed save")
        self.assertIn("Not a directory", job.status()["checkpoint"]["lastFailedSave"]["message"])
        self.until(lambda: "CheckpointSaveFailing" in job.events(), job, "its event")
        self.assertIn("Not a directory", self.amdahl("describe", job.name))
        self.assertIn("Not a directory", self.amdahl("diagnose", job.name))
        shown = (r'\namdahl_training_job_failed_saves_total\{[^}]*'
                 r'training_job="unwritable"\} [1-9]\d*\n')
        self.until(lambda: re.search(shown, self.operator_metrics()), job, "the metric")

    def operator_metrics(self) -> str:
        """The log says on which port of loopback they are served."""
        port = re.search(r'"probes and metrics are served".*"port":(\d+)',
                         (self.home.data / "log").read_text())[1]
        url = f"http://127.0.0.1:{port}/metrics"
        return urllib.request.urlopen(url, timeout=20).read().decode()

    # promises: D2
    def test_a_script_that_dies_of_a_failed_save_is_restarted_and_not_paused(self):
        job = self.start_unwritable("mortal", DIES)
        said = self.amdahl("pause", job.name, "--wait", code=1)
        self.assertIn("not paused: refused", said)
        # Not asked again, it outlives its backoff and more steps than it had made before.
        self.until(lambda: len(self.steps_of(job, 2)) > 20, job, "steps of the second attempt")
        status = job.status()
        self.assertEqual(status["phase"], "Running")
        self.assertEqual(status["attempts"][0]["outcome"], "Failed")
        self.assertEqual(status["pause"]["outcome"], "Refused")
        self.assertNotIn("PauseStepsLost", job.events())
        self.assertEqual(max(one for one, _ in job.steps()), 2)

    # promises: D2
    def test_a_script_that_may_not_fail_again_fails_by_the_usual_rules(self):
        job = self.start_unwritable("doomed", DIES, max_failures=0)
        self.amdahl("pause", job.name, "--wait", code=1)
        status = self.until_phase(job, "Failed")
        self.assertEqual(status["attempts"][0]["outcome"], "Failed")
        self.assertEqual(status["reason"], "FailureBudgetSpent")

    # promises: D7
    def test_a_pause_ends_the_script_before_it_publishes_an_unfinished_model(self):
        job = self.start_script("publisher", TRAINER, steps=150)
        self.amdahl("pause", job.name, "--wait")
        self.assertEqual(self.until_phase(job, "Paused")["pause"]["outcome"], "Committed")
        self.assertEqual(job.published(), "")
        self.goes_on(job, attempt=1)
        status = self.until_phase(job, "Succeeded")
        self.assertEqual(job.published(), "150 False\n")
        self.assertEqual(status["attempt"], 2)
        self.assertEqual(status["budgets"].get("failures", 0), 0)

    # promises: D7
    def test_a_script_that_asked_to_go_on_after_a_pause_does(self):
        job = self.start_script("goer", TRAINER, GO_ON="1")
        self.amdahl("pause", job.name, "--wait")
        self.until_phase(job, "Paused")
        self.assertEqual(job.published(), f"{self.steps_of(job, 1)[-1]} True\n")


if __name__ == "__main__":
    unittest.main()
