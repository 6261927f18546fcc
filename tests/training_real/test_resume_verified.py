"""Checkpoints that are damaged while a job is paused: what it goes on from, or that it waits."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from checkpoint_case import CheckpointCase  # noqa: E402
from job_case import Job  # noqa: E402

STEPS = 80


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


class ResumeVerified(CheckpointCase):
    def paused(self, name: str) -> tuple[Job, list[Path]]:
        """A job that was paused beyond its second checkpoint, and its manifests, oldest first."""
        job = self.start(name, STEPS, step_seconds=0.2)
        self.until_step(job, 25)
        status = self.pause(job)
        self.assertEqual(status["pause"]["outcome"], "Committed")
        return job, sorted((job.checkpoints / "manifests").iterdir())

    def condition(self, job: Job) -> dict:
        return next(one for one in job.status()["conditions"] if one["type"] == "CheckpointReady")

    def losses_by_step(self, job: Job) -> dict[int, float]:
        """Of a step that was made twice, the later one."""
        return {step: loss for _, step, loss in job.losses()}

    def test_the_newest_is_damaged_and_the_one_before_is_taken(self):
        calm = self.start("calm", STEPS, step_seconds=0)
        self.until_phase(calm, "Succeeded")
        job, manifests = self.paused("bitten")
        newest, before = int(manifests[-1].stem), int(manifests[-2].stem)
        flip_a_bit(manifests[-1])
        self.resume_without_delay(job)
        status = self.until_phase(job, "Succeeded")
        self.assertIn("CheckpointDamaged", job.events())
        self.assertEqual(status["attempts"][1]["resumedFromStep"], before)
        self.assertEqual(status["attempts"][0]["lostSteps"],
                         status["attempts"][0]["lastStep"] - before)
        self.assertEqual(min(step for attempt, step, _ in job.losses() if attempt == 2), before + 1)
        self.assertEqual(status["checkpoint"]["lastCommitted"]["step"], STEPS)
        self.assertGreater(newest, before)
        self.assertEqual(self.losses_by_step(job), self.losses_by_step(calm))

    def test_none_is_sound_and_the_job_asks_for_nothing(self):
        job, manifests = self.paused("lost")
        for manifest in manifests:
            flip_a_bit(manifest)
        job.apply()
        self.until(lambda: self.condition(job)["reason"] == "Damaged", job, "it says so")
        self.assertEqual(self.condition(job)["status"], "False")
        self.assertEqual((job.pods(), job.groups()), ([], []))
        pending = job.status()["pending"]
        self.assertEqual(pending["reason"], "CheckpointDamaged")
        self.assertIn("amdahl checkpoint verify file://", pending["message"])
        told = self.home.run("diagnose", job.name, check=False).stdout
        self.assertIn("asks for no GPUs", told)
        # Another place is how people say that it shall start from the beginning.
        job.apply(("suspend: false", "suspend: true"))
        self.until_phase(job, "Paused")
        job.manifest = job.manifest.replace(f"file://{job.checkpoints}",
                                            f"file://{job.checkpoints}-anew")
        self.resume_without_delay(job)
        status = self.until_phase(job, "Succeeded")
        self.assertNotIn("resumedFromStep", status["attempts"][-1])
        self.assertEqual(min(step for attempt, step, _ in job.losses() if attempt == 3), 1)

    def test_a_sound_one_is_verified_before_the_pods_are_made(self):
        job, manifests = self.paused("sound")
        self.resume_without_delay(job)
        self.until(lambda: self.condition(job)["reason"] == "Verified" or
                   job.status()["phase"] == "Succeeded", job, "it is verified")
        status = self.until_phase(job, "Succeeded")
        self.assertEqual(status["attempts"][1]["resumedFromStep"], int(manifests[-1].stem))
        self.assertNotIn("CheckpointDamaged", job.events())
        self.assertNotIn("CheckpointNotVerified", job.events())


if __name__ == "__main__":
    unittest.main()
