"""Real torchrun with amdahl.checkpoint: what a job that was paused, resumed and killed ends with.

The root of a checkpoint follows from the bytes of its tensors alone, so two runs with one root have
the same weights and the same state of the optimizer, bit for bit.
"""

import json
import os
import signal
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from checkpoint_case import CheckpointCase  # noqa: E402
from job_case import HERE, ROOT, Job  # noqa: E402
from test_torchrun import process_of_rank  # noqa: E402

STEPS = 120
KILL_AT = 40  # of kill_after_save.py


class Checkpoints(CheckpointCase):
    def listed(self, job: Job) -> list[dict]:
        done = self.home.run("checkpoint", "ls", str(job.checkpoints), "-o", "json")
        return json.loads(done.stdout)

    def root_of_the_end(self, job: Job) -> str:
        newest = self.listed(job)[0]
        self.assertEqual(newest["step"], STEPS)
        return newest["manifest"]["root"]

    def test_interrupted_as_often_as_can_be_it_ends_with_the_same_bits(self):
        calm = self.start("calm", STEPS, step_seconds=0)
        self.until_phase(calm, "Succeeded")
        job = self.start("rough", STEPS, step_seconds=0.2)
        self.until_step(job, 30)
        os.kill(process_of_rank(job, 3), signal.SIGKILL)
        self.until(lambda: job.status()["attempt"] == 2, job, "attempt 2")
        self.until_step(job, 50)
        status = self.pause(job)
        pause = status["pause"]
        self.assertEqual((pause["outcome"], pause["lostSteps"]), ("Committed", 0))
        wide = self.home.run("get", "tj", "rough", "-o", "wide").stdout
        self.assertRegex(wide, rf"CHECKPOINT[^\n]*\n[^\n]*\b{pause['step']}\b")
        self.resume_without_delay(job)
        status = self.until_phase(job, "Succeeded")
        self.assertEqual([one["outcome"] for one in status["attempts"]],
                         ["Failed", "Paused", "Succeeded"])
        self.assertEqual(self.root_of_the_end(job), self.root_of_the_end(calm))
        self.check_status(job, status)
        self.check_store(job)

    def test_killed_right_after_a_save_it_goes_on_from_that_very_step(self):
        job = self.make("killed", STEPS, step_seconds=0)
        script = ROOT / "examples" / "train_checkpointed.py"
        self.assertIn(str(script), job.manifest)
        job.manifest = job.manifest.replace(str(script), str(HERE / "kill_after_save.py"))
        self.addCleanup(self.remove, job)
        job.apply()
        status = self.until_phase(job, "Succeeded")
        self.assertEqual([one["outcome"] for one in status["attempts"]], ["Failed", "Succeeded"])
        again = [step for attempt, step, _ in job.losses() if attempt == 2]
        self.assertEqual(again[0], KILL_AT + 1)
        self.assertEqual(status["attempts"][0]["lostSteps"], 0)

    # promises: D2
    def test_a_pod_that_is_deleted_has_time_to_save(self):
        # Nothing is saved but for the deletion.
        job = self.start("drained", STEPS, step_seconds=0.1, checkpoint_steps=10 * STEPS)
        self.until_step(job, 20)
        before = job.last_step()
        self.home.run("delete", "pod", "drained-1-1")
        status = self.until_phase(job, "Succeeded")
        self.assertEqual([one["outcome"] for one in status["attempts"]],
                         ["Disrupted", "Succeeded"])
        again = [step for attempt, step, _ in job.losses() if attempt == 2]
        self.assertGreater(again[0], before)

    def check_status(self, job: Job, status: dict) -> None:
        checkpoint = status["checkpoint"]
        newest = self.listed(job)[0]
        last = checkpoint["lastCommitted"]
        self.assertEqual((last["step"], last["bytes"]),
                         (STEPS, newest["manifest"]["bytes"]))
        self.assertRegex(last["manifestDigest"], r"^sha256:[0-9a-f]{64}$")
        self.assertLess(checkpoint["stallSeconds"], 10)
        self.assertLess(checkpoint["predictedPauseSeconds"], 60)

    def check_store(self, job: Job) -> None:
        said = self.home.run("checkpoint", "verify", str(job.checkpoints), "--all").stdout
        self.assertNotIn("BAD", said)
        # What the killed attempt had not committed has gone with a later commit.
        left = self.home.run("checkpoint", "gc", str(job.checkpoints), "--job-has-ended",
                             "--dry-run").stdout
        self.assertRegex(left, r"(?m)^Would remove 0 objects")


if __name__ == "__main__":
    unittest.main()
