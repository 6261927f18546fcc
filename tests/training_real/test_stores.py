"""Which checkpoints stay, whose a prefix is, and where a job starts from."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from store_case import StoreCase  # noqa: E402

KIB = 1024


class Retention(StoreCase):
    def saves(self, name: str, retention: dict, size: int = KIB) -> list[int]:
        """The steps that are left of ten."""
        self.start(name, "--steps", 10, "--bytes", size, checkpoint={"retention": retention})
        self.until_phase(name, "Succeeded")
        return self.steps(name)

    # promises: B1
    # fields: spec.checkpoint.retention.keepLast
    def test_keep_last_says_how_many_are_left(self):
        self.assertEqual(self.saves("default", {}), [8, 9, 10])
        self.assertEqual(self.saves("five", {"keepLast": 5}), [6, 7, 8, 9, 10])
        self.assertEqual(self.saves("all", {"keepLast": 50}), list(range(1, 11)))

    # promises: B1
    # fields: spec.checkpoint.retention.keepEverySteps
    def test_keep_every_steps_keeps_the_multiples(self):
        self.assertEqual(self.saves("every", {"keepLast": 1, "keepEverySteps": 4}), [4, 8, 10])

    # promises: B1
    # fields: spec.checkpoint.retention.maxBytes
    def test_max_bytes_bounds_what_is_left(self):
        left = self.saves("bounded", {"keepLast": 50, "maxBytes": "450Ki"}, size=100 * KIB)
        self.assertEqual(left, [7, 8, 9, 10])
        folders = ("data", "blobs", "receipts")
        size = sum(one.stat().st_size for folder in folders
                   for one in (self.folder("bounded") / folder).glob("**/*") if one.is_file())
        self.assertLessEqual(size, 450 * KIB)

    # promises: B1, B9
    # fields: spec.checkpoint.retention.keepLast
    def test_a_changed_field_counts_for_the_next_attempt_and_for_gc(self):
        job = self.start("changed", "--steps", 10, "--fail-after", 6,
                         checkpoint={"retention": {"keepLast": 50}}, suspend=False)
        self.until_phase("changed", "Succeeded")
        self.assertEqual(self.steps("changed"), list(range(1, 11)))
        job["spec"]["checkpoint"]["retention"]["keepLast"] = 4
        self.apply(job)
        said = self.home.run("checkpoint", "gc", "changed", "--dry-run").stdout
        self.assertIn("Would remove", said)
        self.assertEqual(self.steps("changed"), list(range(1, 11)))
        self.home.run("checkpoint", "gc", "changed")
        self.assertEqual(self.steps("changed"), [7, 8, 9, 10])
        self.home.run("checkpoint", "gc", "changed", "--keep-last", "2")  # a flag comes first
        self.assertEqual(self.steps("changed"), [9, 10])

    # promises: B1
    # fields: spec.checkpoint.retention.keepLast
    def test_a_changed_field_counts_after_a_pause(self):
        job = self.start("resumed", "--steps", 5, "--stay",
                         checkpoint={"retention": {"keepLast": 50}})
        self.until(lambda: self.status("resumed").get("progress", {}).get("step") == 5, "step 5")
        self.home.run("pause", "resumed")
        self.until_phase("resumed", "Paused")
        self.assertEqual(self.steps("resumed"), [1, 2, 3, 4, 5])
        job["spec"]["checkpoint"]["retention"]["keepLast"] = 2
        job["spec"]["suspend"] = True
        trainer = job["spec"]["template"]["spec"]["containers"][0]
        trainer["args"] = ["--steps", "6"]
        self.home.run("apply", "-f", "-", "--force", text=json.dumps(job))
        self.home.run("resume", "resumed")
        self.until_phase("resumed", "Succeeded")
        self.assertEqual(self.steps("resumed"), [5, 6])


class Owners(StoreCase):
    def taken(self, name: str, namespace: str = "default") -> dict:
        """Waits until the job is refused; its whole status."""
        self.until(lambda: self.condition(name, namespace=namespace).get("reason") == "Taken",
                   f"{name} is refused")
        status = self.status(name, namespace)
        self.assertEqual(status["pending"]["reason"], "CheckpointTaken")
        self.assertEqual(self.pods(name, namespace), [])
        return status

    def finished(self, name: str) -> str:
        """A job that has saved three steps and is over; its URI."""
        self.start(name, "--steps", 3)
        self.until_phase(name, "Succeeded")
        return f"file://{self.folder(name)}"

    # promises: D4, A3
    # fields: spec.checkpoint.uri
    def test_a_prefix_of_another_job_is_refused_before_the_first_step(self):
        uri = self.finished("first")
        owner = self.live("first")["metadata"]["uid"]
        job = self.start("second", "--steps", 5, checkpoint={"uri": uri})
        message = self.taken("second")["pending"]["message"]
        for words in (uri, "TrainingJob default/first", "default/second", "initFrom"):
            self.assertIn(words, message)
        self.until_event("second", "CheckpointTaken")
        self.assertIn("asks for no GPUs", self.home.run("diagnose", "second", check=False).stdout)

        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "elsewhere"}})
        self.start("stranger", "--steps", 5, checkpoint={"uri": uri}, namespace="elsewhere")
        told = json.dumps(self.taken("stranger", "elsewhere"))
        self.assertIn("belongs to another job", told)
        self.assertNotIn("default/first", told)
        self.assertNotIn(owner, told)
        self.assertEqual(self.steps("first"), [1, 2, 3])  # neither has written there

        # As the message says: another place, and the weights of the first.
        self.home.run("pause", "second")
        self.until_phase("second", "Paused")
        job["spec"]["checkpoint"] = {"uri": f"file://{self.folder('second')}", "initFrom": uri}
        job["spec"]["suspend"] = True
        self.home.run("apply", "-f", "-", "--force", text=json.dumps(job))
        self.home.run("resume", "second")
        self.until_phase("second", "Succeeded")
        self.assertEqual(self.steps("second"), [4, 5])

    # promises: D4
    def test_a_job_that_was_deleted_and_made_again_is_told_what_to_do(self):
        job = self.start("again", "--steps", 3)
        self.until_phase("again", "Succeeded")
        self.home.run("delete", "trainingjob", "again")
        self.apply(job)
        message = self.taken("again")["pending"]["message"]
        self.assertIn("an earlier TrainingJob with the name default/again", message)

    # promises: D4
    # fields: spec.checkpoint.initFrom
    def test_the_first_attempt_starts_from_init_from_and_later_ones_from_their_own(self):
        uri = self.finished("source")
        self.start("tuned", "--steps", 6, "--fail-after", 5, checkpoint={"initFrom": uri})
        self.until_phase("tuned", "Succeeded")
        self.assertIn("loaded step 5 count 5 from its own", self.log("tuned-2-0"))
        self.assertEqual(self.steps("tuned"), [4, 5, 6])
        self.start("older", "--steps", 3, checkpoint={"initFrom": f"{uri}@2"})
        self.until_phase("older", "Succeeded")
        self.assertIn(f"loaded step 2 count 2 from {uri}@2", self.log("older-1-0"))
        self.assertEqual((self.steps("older"), self.steps("source")), ([3], [1, 2, 3]))
        self.start("nothing", "--steps", 3, restart={"maxFailures": 0},
                   checkpoint={"initFrom": f"{uri}-not"})
        self.until(lambda: self.status("nothing").get("phase") == "Failed", "nothing there")
        self.assertIn("no checkpoint is committed there", self.log("nothing-1-0"))


if __name__ == "__main__":
    unittest.main()
