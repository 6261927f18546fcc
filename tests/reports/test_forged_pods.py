"""A report counts for the job of the pod's own namespace, and for nobody else's."""

import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from report_world import ReportWorld, jobs_of, wait_for  # noqa: E402

HUGE = 1_000_000_000


class ForgedPods(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = ReportWorld()
        cls.addClassCleanup(cls.world.close)
        for namespace in ("victim", "attacker"):
            cls.world.make_namespace(namespace)
        cls.operator = cls.world.operator("--no-leader-election")
        cls.port = cls.operator.report_port()

    def saved(self, name: str) -> int:
        """What reached the job's status of its reports."""
        return self.world.status("victim", name).get("checkpoint", {}).get(
            "lastCommitted", {}).get("step", -1)

    def reports_until(self, pod, name: str, holds, **more) -> dict:
        """Reports as a launcher does, and now and then again, until it holds; the last answer."""
        answers, due = [], [0.0]

        def once():
            if time.monotonic() > due[0]:
                due[0] = time.monotonic() + 1
                status, answer = pod.report(self.port, f"victim/{name}", **more)
                self.assertEqual(status, 200, answer)
                answers.append(answer)
            return holds(answers[-1])
        wait_for(once, lambda: f"{self.world.status('victim', name)}, answer {answers[-1]}")
        return answers[-1]

    def saves(self, pod, name: str, step: int) -> None:
        self.reports_until(pod, name, lambda _: self.saved(name) == step, step=step,
                           checkpoint={"step": step, "path": "gs://bucket/x"})

    # promises: A2
    def test_a_pod_of_another_namespace_cannot_speak_for_a_job(self):
        world = self.world
        job = world.submit("victim", "llama", nodes=2, checkpoint={"uri": "gs://bucket/llama"})
        rank0 = world.start_pod("victim", "llama-1-0")
        rank1 = world.start_pod("victim", "llama-1-1")
        self.assertEqual(rank1.report(self.port, "victim/llama", rank=1, step=7)[0], 200)
        self.saves(rank0, "llama", 7)
        for attempt, rank in ((HUGE, 0), (1, 0), (2, 1), (1, 5)):
            name = f"llama-{attempt}-{rank}"
            forged = world.forge_pod("attacker", name, job, attempt, rank)
            for claimed in ("victim/llama", "attacker/llama"):
                status, words = wait_for(lambda: self.verdict(forged, claimed, attempt, rank))
                self.assertEqual(status, 403, words)
                self.assertIn("attacker", words)
                self.assertNotIn("victim", words)
        # The attack froze progress and pauses: both go on.
        rank1.report(self.port, "victim/llama", rank=1, step=19)
        self.saves(rank0, "llama", 19)
        world.edit("victim", "llama", suspend=True)
        asked = self.reports_until(rank0, "llama", step=19,
                                   holds=lambda said: said.get("request") == "Pause")
        self.assertEqual(asked["request"], "Pause")
        saved = {"pause": {"state": "Committed", "way": "Helper", "step": 19}, "step": 19,
                 "checkpoint": {"step": 19, "path": "gs://bucket/llama/19"}}
        rank1.report(self.port, "victim/llama", rank=1, **saved)
        rank0.report(self.port, "victim/llama", **saved)

        def paused():
            for pod in (rank0, rank1):
                if (world.pod("victim", pod.name) or {}).get("metadata", {}).get(
                        "deletionTimestamp"):
                    world.end_pod("victim", pod.name)
            return world.status("victim", "llama").get("phase") == "Paused"
        wait_for(paused, lambda: str(world.status("victim", "llama")))

    def verdict(self, pod, job: str, attempt: int, rank: int):
        """None while the operator's cache has not seen the pod."""
        status, words = pod.report(self.port, job, attempt, rank, step=HUGE)
        return None if status in (401, 429) else (status, words)

    # promises: A2
    def test_a_pod_of_the_same_namespace_counts_only_as_what_the_job_made(self):
        world = self.world
        job = world.submit("victim", "bert", nodes=1, checkpoint={"uri": "gs://bucket/bert"})
        rank0 = world.start_pod("victim", "bert-1-0")
        self.saves(rank0, "bert", 3)
        forgeries = {
            "bert-2-0": (2, 0, "attempt 1"),          # not begun
            f"bert-{HUGE}-0": (HUGE, 0, "attempt 1"),
            "bert-1-7": (1, 7, "1 node"),             # a rank that the job has not
            "another": (1, 0, "bert-1-0"),            # rank 0 has a pod already
        }
        for name, (attempt, rank, why) in forgeries.items():
            forged = world.forge_pod("victim", name, job, attempt, rank)
            status, words = wait_for(
                lambda: self.verdict(forged, "victim/bert", attempt, rank))
            self.assertEqual(status, 403, f"{name}: {words}")
            self.assertIn(why, words)
        self.saves(rank0, "bert", 5)
        status = world.status("victim", "bert")
        self.assertEqual((status["phase"], status["attempt"], status["restarts"]),
                         ("Running", 1, 0))
        # The job asks for no GPU; the forged pods claim 1000 each and have had a node for a while.
        self.assertEqual(status.get("gpuSeconds", {}).get("held", 0), 0, status)

    # promises: A2
    def test_a_pod_made_ahead_of_an_attempt_does_not_become_its_rank(self):
        world = self.world
        job = world.submit("victim", "gpt", restart={"backoff": "0s"})
        world.start_pod("victim", "gpt-1-0")
        world.forge_pod("victim", "early", job, 2, 0)
        world.end_pod("victim", "gpt-1-0")
        rank0 = world.start_pod("victim", "gpt-2-0")
        wait_for(lambda: self.phase("gpt") == (2, "Running"), lambda: str(self.phase("gpt")))
        status, words = rank0.report(self.port, "victim/gpt", attempt=2, step=1)
        self.assertEqual(status, 200, words)

    def phase(self, name: str) -> tuple:
        status = self.world.status("victim", name)
        return status.get("attempt"), status.get("phase")

    # promises: A7
    def test_a_job_that_is_gone_leaves_nothing_behind(self):
        world = self.world
        before = self.operator.metric("amdahl_reported_jobs")
        pods = []
        for number in range(3):
            world.submit("victim", f"gone{number}")
            pods.append(world.start_pod("victim", f"gone{number}-1-0"))
            status, words = pods[-1].report(self.port, f"victim/gone{number}", step=1)
            self.assertEqual(status, 200, words)
        self.assertEqual(self.operator.metric("amdahl_reported_jobs"), before + 3)
        for number, pod in enumerate(pods):
            world.server.request("DELETE", f"{jobs_of('victim')}/gone{number}")
        # Its pods are still there when it goes, and go on reporting.
        def refused(pod, number):
            status, words = pod.report(self.port, f"victim/gone{number}", step=2)
            return status in (401, 403)
        for number, pod in enumerate(pods):
            wait_for(lambda: world.server.request(
                "GET", f"{jobs_of('victim')}/gone{number}")[0] == 404 or
                world.end_pod("victim", pod.name))
            wait_for(lambda: refused(pod, number))
        wait_for(lambda: self.operator.metric("amdahl_reported_jobs") == before,
                 lambda: f"{self.operator.metric('amdahl_reported_jobs')} entries, not {before}")


if __name__ == "__main__":
    unittest.main()
