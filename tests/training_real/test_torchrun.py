"""Real torchrun, real torch: two pods with two processes each, over gloo.

Every run computes the same numbers, so a run that lost a rank or was paused must show, step by
step, the losses of one that was left alone.
"""

import os
import re
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "embedded"))

import test_local_pods  # noqa: E402
from job_case import PYTHON, ROOT, Job, JobCase, has_torch  # noqa: E402

STEPS = 160


def process_of_rank(job: Job, rank: int) -> int:
    """The worker of that rank, among the processes of this machine."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            words = set(path.read_bytes().split(b"\0"))
        except OSError:  # it has ended, or is not ours
            continue
        if {f"RANK={rank}".encode(), f"AMDAHL_JOB=default/{job.name}".encode()} <= words:
            return int(path.parent.name)
    raise AssertionError(f"{job.name} has no rank {rank}")


@unittest.skipUnless(has_torch(), f"{PYTHON} has no torch: tools/setup installs it")
class Torchrun(JobCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.calm = cls.make("calm", STEPS, step_seconds=0)
        cls.calm.apply()
        cls("test_a_calm_run_ends_well").until_phase(cls.calm, "Succeeded")
        cls.expected = {step: loss for _, step, loss in cls.calm.losses()}

    def check_losses(self, job: Job) -> None:
        """All steps were made, and each, however often, with the loss of the calm run."""
        rows = job.losses()
        self.assertEqual(sorted({step for _, step, _ in rows}), list(range(1, STEPS + 1)))
        wrong = [row for row in rows if row[2] != self.expected[row[1]]]
        self.assertEqual(wrong, [])

    def first_step(self, job: Job, attempt: int) -> int:
        return next(step for number, step, _ in job.losses() if number == attempt)

    def test_a_calm_run_ends_well(self):
        status = self.calm.status()
        self.assertEqual(list(self.expected), list(range(1, STEPS + 1)))
        self.assertLess(self.expected[STEPS], 0.7 * self.expected[1])
        self.assertEqual((status["attempt"], status["progress"]["step"]), (1, STEPS))
        self.assertEqual(status["checkpoint"]["lastCommitted"]["step"], STEPS)
        said = "".join(self.home.run("logs", f"calm-1-{node}").stdout for node in range(2))
        ranks = sorted(re.findall(r"rank (\d) of 4 on calm-1-(\d)", said))
        self.assertEqual(ranks, [("0", "0"), ("1", "0"), ("2", "1"), ("3", "1")])
        self.assertGreater(status["gpuSeconds"]["held"], 0)

    def test_all_examples_are_accepted(self):
        names = [*ROOT.glob("examples/local-*.yaml"), ROOT / "examples/evaluation-lm-eval.yaml"]
        self.assertEqual(len(names), 6)
        for name in names:
            self.assertIn("created", self.home.run("submit", name, "--dry-run").stdout)

    def test_a_killed_rank_restarts_the_gang_from_its_checkpoint(self):
        job = self.start("killed", STEPS, step_seconds=0.03)
        self.until_step(job, 50)
        os.kill(process_of_rank(job, 3), signal.SIGKILL)
        self.until(lambda: job.status()["attempt"] == 2, job, "attempt 2")
        status = self.until_phase(job, "Succeeded")
        first, second = status["attempts"]
        self.assertEqual((first["outcome"], second["outcome"]), ("Failed", "Succeeded"))
        cause = first["cause"]
        self.assertEqual((cause["class"], cause["role"]), ("WorkerProcessKilled", "Root"), cause)
        resumed = second["resumedFromStep"]
        self.assertGreaterEqual(resumed, 40)
        self.assertEqual(self.first_step(job, 2), resumed + 1)
        self.assertEqual((status["restarts"], status["budgets"]["failures"]), (1, 1))
        self.check_losses(job)

    def test_a_pause_keeps_every_step_and_a_resume_goes_on_from_it(self):
        # Ranks report every 5 s, and are told of a pause when they do. Without other checkpoints,
        # what is saved is saved for it.
        job = self.start("paused", STEPS, step_seconds=0.2, checkpoint_steps=STEPS)
        status = self.pause(job)
        pause = status["pause"]
        self.assertEqual((pause["outcome"], pause["lostSteps"]), ("Committed", 0))
        self.assertEqual(job.conditions()["Suspended"], "True")
        self.assertEqual(pause["step"], status["checkpoint"]["lastCommitted"]["step"])
        self.assertEqual(pause["step"], job.last_step())
        self.assertLess(pause["step"], STEPS)
        self.assertEqual((job.pods(), job.groups()), ([], []))
        self.resume_without_delay(job)
        status = self.until_phase(job, "Succeeded")
        self.assertEqual([one["outcome"] for one in status["attempts"]], ["Paused", "Succeeded"])
        self.assertEqual(self.first_step(job, 2), pause["step"] + 1)
        self.assertEqual(len(job.losses()), STEPS)  # none was made twice
        self.assertEqual(status["budgets"], {"failures": 0, "disruptions": 0, "pauses": 1})
        story = ["Pausing", "PauseCommitted", "Paused", "Resumed", "Completed"]
        self.assertEqual([reason for reason in job.events() if reason in story], story)
        self.check_losses(job)

    def test_two_jobs_train_beside_each_other(self):
        jobs = [self.start(name, STEPS, step_seconds=0.03) for name in ("left", "right")]
        for job in jobs:
            self.until_step(job, 1)
        self.assertLess(jobs[0].last_step(), STEPS)  # so both were there at the same time
        for job in jobs:
            status = self.until_phase(job, "Succeeded")
            self.assertEqual(status["attempt"], 1)
            self.check_losses(job)

    def test_a_cancelled_job_leaves_nothing_running(self):
        job = self.start("cancelled", 100_000)
        self.until_step(job, 5)
        job.apply(("suspend: false", "cancel: true"))
        self.until_phase(job, "Cancelled")
        running = lambda: [pod for pod in job.pods() if pod["status"]["phase"] == "Running"]
        self.until(lambda: not running() and not job.groups(), job, "no pod that runs, no group")
        with self.assertRaises(AssertionError):
            process_of_rank(job, 0)

    # fields: spec.runtime
    def test_an_evaluation_leaves_its_metrics_in_the_status(self):
        job = Job(self.home, "local-evaluation.yaml", "evaluated",
                  {"/path/to/checkpoints": str(self.calm.checkpoints)})
        self.addCleanup(self.remove, job)
        job.apply()
        alone = subprocess.run(
            [PYTHON, ROOT / "examples/evaluate_tiny.py", self.calm.checkpoints],
            text=True, capture_output=True, check=True, timeout=60).stdout
        expected = dict(re.findall(r"\|(accuracy|loss) *\| *\|([0-9.]+)\|", alone))
        status = self.until_phase(job, "Succeeded")
        found = {one["name"]: f"{float(one['value']):.4f}"
                 for one in status["progress"]["metrics"]}
        self.assertEqual(found, expected)
        self.assertGreater(float(found["accuracy"]), 0.5)  # one of 8 classes


@unittest.skipUnless(has_torch(), f"{PYTHON} has no torch: tools/setup installs it")
class WithoutNamespaces(JobCase):
    """As in most containers: nothing can be mounted, and pods have no host name of their own."""

    prefix = test_local_pods.NO_NAMESPACES if test_local_pods.Pods.can_mount else ()

    def test_a_job_finds_its_ranks_and_reports(self):
        job = self.start("plain", 30, step_seconds=0)
        status = self.until_phase(job, "Succeeded")
        self.assertEqual((job.last_step(), status["progress"]["step"]), (30, 30))


if __name__ == "__main__":
    unittest.main()
