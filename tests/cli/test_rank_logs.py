"""The logs of ranks: pods of the embedded cluster that write a line each."""

import time
import unittest

from job_cluster import PODS, SECONDS, JobTest, condition


class RankLogs(JobTest):
    def says(self, job: str, attempt: int, rank: int, more: str = "") -> None:
        self.cluster.add_pod(job, attempt, rank,
                             ("sh", "-c", f"echo attempt {attempt} rank {rank}; {more}"))

    def wait_ended(self, *pods: str) -> None:
        deadline = time.monotonic() + SECONDS
        for pod in pods:
            while self.cluster.call("GET", f"{PODS}/{pod}")["status"]["phase"] != "Succeeded":
                self.assertLess(time.monotonic(), deadline, pod)
                time.sleep(0.02)

    def test_a_rank_of_the_newest_attempt_is_shown(self):
        self.submit("told")
        for attempt, rank in ((1, 0), (2, 0), (2, 1)):
            self.says("told", attempt, rank)
        self.wait_ended("told-1-0", "told-2-0", "told-2-1")
        self.assertEqual(self.amdahl("logs", "told"), "attempt 2 rank 0\n")
        self.assertEqual(self.amdahl("logs", "tj/told", "--rank", "1"), "attempt 2 rank 1\n")
        self.assertEqual(self.amdahl("logs", "told", "--attempt", "1"), "attempt 1 rank 0\n")
        self.assertEqual(self.amdahl("logs", "told", "--all-ranks"),
                         "[0] attempt 2 rank 0\n[1] attempt 2 rank 1\n")
        self.assertEqual(self.amdahl("logs", "told-2-1"), "attempt 2 rank 1\n")
        said = self.amdahl("logs", "told", "--rank", "7", code=1)
        self.assertIn("TrainingJob told has no pod and no kept log of rank 7", said)
        self.assertIn("its newest attempt is 2, with ranks up to 1", said)
        self.amdahl("logs", "told", "--rank", "1", "--all-ranks", code=1)

    # promises: D11
    def test_an_attempt_without_rank_0_shows_the_pod_that_is_there(self):
        self.submit("blamed")
        self.says("blamed", 1, 1)
        self.says("blamed", 2, 0)
        self.wait_ended("blamed-1-1", "blamed-2-0")
        done = self.cluster.run("logs", "blamed", "--attempt", "1")
        self.assertEqual(done.stdout, "attempt 1 rank 1\n")
        self.assertIn("attempt 1 has no log of rank 0; this is rank 1", done.stderr)
        self.amdahl("logs", "blamed", "--attempt", "1", "--rank", "0", code=1)

    def test_a_pod_of_that_name_wins(self):
        self.submit("twin-1-0")
        self.submit("twin")
        self.says("twin", 1, 0)
        self.wait_ended("twin-1-0")
        self.assertEqual(self.amdahl("logs", "twin-1-0"), "attempt 1 rank 0\n")
        self.assertIn("TrainingJob twin-1-0 has no pod",
                      self.amdahl("logs", "job/twin-1-0", code=1))

    def test_follow_waits_for_a_rank_and_ends_with_it(self):
        self.submit("early")
        with self.started("logs", "early", "-f", "--all-ranks") as lines:
            time.sleep(0.2)
            self.says("early", 1, 0, "sleep 0.3; echo end")
            self.assertEqual(lines.end(), 0)
        self.assertEqual(lines.seen, ["[0] attempt 1 rank 0", "[0] end"])
        self.cluster.set_status("early", condition("Succeeded", True, "Completed"))
        self.assertIn("no pod", self.amdahl("logs", "early", "--attempt", "9", "-f", code=1))

    def test_follow_waits_for_a_node(self):
        self.submit("nodeless")
        self.cluster.call("POST", PODS, {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "nodeless-1-0", "labels": {
                "amdahl.dev/job": "nodeless", "amdahl.dev/attempt": "1", "amdahl.dev/rank": "0"}},
            "spec": {"restartPolicy": "Never", "schedulerName": "nobody", "containers": [
                {"name": "trainer", "image": "none", "command": ["echo", "bound"]}]}})
        with self.started("logs", "nodeless", "-f") as lines:
            self.assertIn("have no node yet; waiting", lines.process.stderr.readline())
            self.cluster.call("POST", f"{PODS}/nodeless-1-0/binding", {
                "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "nodeless-1-0"},
                "target": {"apiVersion": "v1", "kind": "Node", "name": "local-0"}})
            self.assertEqual(lines.end(), 0)
        self.assertEqual(lines.seen, ["bound"])

    def test_neither_pod_nor_job(self):
        said = self.amdahl("logs", "nobody", code=1)
        self.assertRegex(said, 'nobody.*no TrainingJob "nobody"')


if __name__ == "__main__":
    unittest.main()
