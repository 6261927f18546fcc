"""Real DeepSpeed: ZeRO stage 1 on two ranks in two pods, paused and resumed.

It is that of `make frameworks`; without it the exit code is 77.
"""

import sys
import unittest

from job_case import ROOT, Job, JobCase

sys.path.insert(0, str(ROOT / "tools"))

import frameworks  # noqa: E402

STEPS = 120


class DeepSpeed(JobCase):
    # promises: B8
    def test_it_is_paused_and_goes_on_where_it_stopped(self):
        losses = self.home.path / "zero" / "losses"
        job = Job(self.home, "local-deepspeed.yaml", "zero", {
            "/path/to/python": str(frameworks.python()), "--steps=200": f"--steps={STEPS}",
            "--checkpoint-steps=50": f"--checkpoint-steps={STEPS}",
            "--step-seconds=0.05": f"--step-seconds=0.2, --losses={losses}"})
        self.addCleanup(self.remove, job)
        job.apply()
        pause = self.pause(job)["pause"]
        self.assertEqual((pause["outcome"], pause["step"]), ("Committed", job.last_step()))
        self.assertLess(pause["step"], STEPS)
        parts = job.checkpoints / f"step-{pause['step']:08d}"
        self.assertEqual(len(list(parts.glob("zero_pp_rank_*_optim_states.pt"))), 2)
        self.resume_without_delay(job)
        status = self.until_phase(job, "Succeeded")
        self.assertEqual([one["outcome"] for one in status["attempts"]], ["Paused", "Succeeded"])
        rows = job.losses()
        self.assertEqual([step for _, step, _ in rows], list(range(1, STEPS + 1)))
        before, after = rows[pause["step"] - 1][2], rows[pause["step"]][2]
        self.assertLess(abs(before - after), 0.5, "a model that starts anew has a loss of 2")
        self.assertLess(rows[-1][2], 0.7 * rows[0][2])


if __name__ == "__main__":
    if frameworks.python() is None:
        print("skipped: frameworks are not installed; `make frameworks` installs them")
        sys.exit(frameworks.SKIPPED)
    unittest.main()
