"""pause, resume, cancel and wait, and following a job until it ends."""

import time
import unittest

from job_cluster import JobTest, condition, job_text

RUNNING = condition("Running", True, "AllRanksStarted")
STOPPED = condition("Running", False, "NotRunning")
PAUSED = condition("Suspended", True, "Paused")
DONE = condition("Succeeded", True, "Completed")


class RunningJob(JobTest):
    def running(self, name: str) -> None:
        self.submit(name)
        self.cluster.set_status(name, RUNNING, phase="Running", attempt=1)


class Change(RunningJob):
    def test_pause_waits_for_the_recorded_outcome(self):
        self.running("saved")
        with self.started("pause", "saved", "--wait") as lines:
            self.wait_for_spec("saved", suspend=True)
            time.sleep(0.2)
            self.assertIsNone(lines.process.poll())
            self.cluster.set_status("saved", STOPPED, PAUSED, phase="Paused", pause={
                "outcome": "Committed", "step": 12, "message": "step 12 is safe"})
            self.assertEqual(lines.end(), 0)
        self.assertEqual(lines.seen, ["saved is paused: checkpoint at step 12 is committed"])
        self.assertIn("is paused already", self.amdahl("pause", "saved", "--wait"))
        self.assertEqual(self.amdahl("wait", "saved", "--for=Paused"), "saved is Paused\n")
        with self.started("resume", "saved", "--wait") as lines:
            self.wait_for_spec("saved", suspend=False)
            self.cluster.set_status(
                "saved", RUNNING, condition("Suspended", False, "NotSuspended"), attempt=2,
                attempts=[{"number": 2, "resumedFromStep": 12}])
            self.assertEqual(lines.end(), 0)
        self.assertEqual(lines.seen, ["saved runs, attempt 2, from step 12"])
        self.assertIn("is not paused", self.amdahl("resume", "saved", "--wait"))

    def test_a_pause_that_is_refused_is_a_failure(self):
        self.running("unsaved")
        self.amdahl("pause", "unsaved", env={"USER": "ann"})
        job = self.cluster.job("unsaved")
        self.assertEqual(job["metadata"]["annotations"], {"amdahl.dev/requested-by": "ann"})
        self.cluster.set_status(
            "unsaved", RUNNING, condition("Suspended", False, "PauseRefused"),
            pause={"outcome": "Refused", "message": "no checkpoint within the deadline"})
        said = self.amdahl("pause", "unsaved", "--wait", code=1)
        self.assertIn("unsaved is not paused: refused: no checkpoint", said)

    def test_time_is_up_with_its_own_code(self):
        self.running("slow")
        said = self.amdahl("pause", "slow", "--wait", "--timeout", "100ms", code=4)
        self.assertIn("slow is not yet paused: Running", said)
        self.amdahl("wait", "slow", "--for=Finished", "--timeout", "0", code=4)

    def test_what_has_ended_is_not_paused_and_may_be_cancelled(self):
        self.submit("ended")
        self.cluster.set_status("ended", DONE, phase="Succeeded")
        self.assertIn("nothing to pause", self.amdahl("pause", "ended", code=1))
        self.assertIn("nothing to resume", self.amdahl("resume", "ended", code=1))
        self.assertIn("has ended (Succeeded) already", self.amdahl("cancel", "ended", "--yes"))

    def test_cancel_is_for_good(self):
        self.running("unwanted")
        with self.started("cancel", "unwanted", "--yes", "--wait") as lines:
            self.wait_for_spec("unwanted", cancel=True)
            self.cluster.set_status("unwanted", STOPPED,
                                    condition("Cancelled", True, "CancelRequested"),
                                    phase="Cancelled", cancel={"lastStep": 3})
            self.assertEqual(lines.end(), 0)
        self.assertEqual(lines.seen, ["unwanted is cancelled, its last step was 3"])

    def test_cancel_asks_a_person(self):
        self.running("precious")
        for answer, cancelled in (("n", False), ("y", True)):
            code, _ = self.on_terminal("cancel", "precious", answer=answer)
            self.assertEqual(code, 0 if cancelled else 1)
            self.assertEqual(self.cluster.job("precious")["spec"]["cancel"], cancelled)

    def test_several_names_are_asked_and_a_missing_one_is_told(self):
        self.running("one")
        self.running("two")
        self.assertIn("nobody", self.amdahl("pause", "one", "nobody", "two", code=1))
        for name in ("one", "two"):
            self.assertTrue(self.cluster.job(name)["spec"]["suspend"])


class Wait(RunningJob):
    def test_wait_ends_when_it_is_so(self):
        self.submit("awaited")
        with self.started("wait", "awaited", "--for=Succeeded") as lines:
            self.cluster.set_status("awaited", RUNNING)
            time.sleep(0.2)
            self.assertIsNone(lines.process.poll())
            self.cluster.set_status("awaited", STOPPED, DONE)
            self.assertEqual(lines.end(), 0)
        self.assertEqual(lines.seen, ["awaited is Succeeded"])
        self.assertIn("has ended: Succeeded", self.amdahl("wait", "awaited", "--for=Finished"))
        self.assertIn("has ended: Succeeded",
                      self.amdahl("wait", "awaited", "--for=Failed", code=1))

    def test_a_job_that_is_deleted_is_not_waited_for(self):
        self.submit("deleted")
        with self.started("wait", "deleted", "--for=Running") as lines:
            time.sleep(0.3)
            self.amdahl("delete", "tj", "deleted")
            self.assertEqual(lines.end(), 1)

    def test_submit_and_watch_tells_changes_and_ends_with_the_job(self):
        path = self.cluster.path / "followed.yaml"
        path.write_text(job_text("followed"))
        with self.started("submit", path, "--watch") as lines:
            lines.wait_for("no operator has looked at it yet")
            pod = self.cluster.add_pod("followed", 1, 0)
            self.cluster.set_status("followed", RUNNING, attempt=1,
                                    progress={"step": 5, "totalSteps": 10, "percent": 50})
            lines.wait_for("default/followed: Running (AllRanksStarted); step 5 of 10 (50%)")
            lines.wait_for(f"attempt 1 rank 0 ({pod}")
            self.cluster.set_status("followed", STOPPED,
                                    condition("Failed", True, "FailureBudgetSpent"))
            self.assertEqual(lines.end(), 1)
        self.assertEqual(len(lines.seen), len(set(lines.seen)), lines.seen)

    def test_a_terminal_shows_a_tree_that_is_redrawn(self):
        self.running("drawn")
        self.cluster.add_pod("drawn", 1, 0)
        self.cluster.set_status("drawn", STOPPED, DONE, attempt=1)
        code, shown = self.on_terminal("describe", "drawn", "-w")
        self.assertEqual(code, 0)
        self.assertIn("default/drawn: Succeeded (Completed)", shown)
        self.assertIn("`-- rank 0   drawn-1-0", shown)
        self.assertTrue(shown.startswith("\x1b[J"), shown)


if __name__ == "__main__":
    unittest.main()
