"""TrainingJobs on a cluster whose kubelet, scheduler, DNS and kernel are real."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from real_world import JOBS, NODE, PODS, RealWorld, images, wait_for  # noqa: E402

LONG = ("--steps", "100000", "--step-seconds", "0.2")
BLOCKER = f"{PODS}/blocker"


class TrainingJobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = RealWorld()
        cls.addClassCleanup(cls.world.close)

    def tearDown(self):
        denied = [line for line in self.world.runner.lines() if "forbidden" in str(line).lower()]
        self.assertEqual(denied, [], "deploy/rbac.yaml lacks a right")

    def start(self, name: str, *words: str, **options) -> None:
        self.addCleanup(self.world.remove, name)
        self.world.train(name, *words, **options)

    def until(self, ready, name: str, what: str, seconds: float = 60):
        return wait_for(ready, lambda: f"{name}: no {what}\n{self.world.describe(name)}", seconds)

    def until_phase(self, name: str, phase: str) -> dict:
        self.until(lambda: self.world.status(name).get("phase") == phase, name, phase)
        return self.world.status(name)

    def until_step(self, name: str, step: int, attempt: int = 1) -> None:
        def far() -> bool:
            status = self.world.status(name)
            return (status.get("attempt") == attempt
                    and status.get("progress", {}).get("step", 0) >= step)
        self.until(far, name, f"report of step {step} in attempt {attempt}")

    def condition(self, name: str, kind: str) -> dict:
        found = self.world.status(name).get("conditions", [])
        return next((one for one in found if one["type"] == kind), {"status": "absent"})

    def bound(self, name: str) -> list[str]:
        return [pod for pod, one in self.world.pods(name).items() if "nodeName" in one["spec"]]

    # --- the gang

    def block(self, cpu: str) -> None:
        """A pod that nobody has to schedule takes this much of the node."""
        pod = {"metadata": {"name": "blocker"}, "spec": {
            "nodeName": NODE.rpartition("/")[2], "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "c", "image": images.PAUSE,
                            "resources": {"requests": {"cpu": cpu}}}]}}
        status, answer = self.world.cluster.request("POST", PODS, pod)
        self.assertEqual(status, 201, answer)
        self.addCleanup(self.world.cluster.request, "DELETE", BLOCKER)
        running = lambda: self.world.cluster.request("GET", BLOCKER)[1]["status"].get("phase")
        wait_for(lambda: running() == "Running", lambda: f"the blocker is {running()}")

    def test_no_pod_of_a_gang_is_bound_before_all_fit(self):
        node = self.world.cluster.request("GET", NODE)[1]["status"]
        cpu = f"{int(node['allocatable']['cpu']) * 400}m"  # two of these fit, and not three
        self.block(cpu)
        self.start("gang", *LONG, resources={"cpu": cpu, "memory": "256Mi"})
        self.world.wait_for_pods("gang", "gang-1-0", "gang-1-1")
        # Volcano has looked and found a place for one of them: it is not merely late.
        why = lambda: self.world.status("gang").get("pending", {}).get("message", "")
        self.until(lambda: "Insufficient cpu" in why(), "gang", "reason of the scheduler")
        self.assertIn("once minAvailable is satisfied", why())
        self.assertEqual(self.world.status("gang")["pending"]["reason"], "Unschedulable")
        self.assertEqual(self.bound("gang"), [])
        self.assertEqual(self.condition("gang", "Admitted")["status"], "False")
        self.world.cluster.request("DELETE", BLOCKER)
        self.until_phase("gang", "Running")
        self.assertEqual(len(self.bound("gang")), 2)
        self.assertEqual(self.condition("gang", "Admitted")["status"], "True")

    def test_ranks_meet_by_name_and_report(self):
        self.start("told", "--steps", "80", "--step-seconds", "0.1")
        self.until_step("told", 1)
        self.until_phase("told", "Running")
        log = self.world.amdahl("logs", "told", "--rank", "0")
        self.assertRegex(log, r"rank 1 is told-1-1\.told-gang at 10\.244\.")
        status = self.until_phase("told", "Succeeded")
        self.assertEqual((status["progress"]["step"], status["progress"]["totalSteps"]), (80, 80))
        self.assertEqual(status["attempts"][0]["lastStep"], 80)
        (loss,) = status["progress"]["metrics"]
        self.assertEqual((loss["name"], float(loss["value"])), ("loss", 1 / 80))
        phases = {one["name"]: one["seconds"] for one in status["gpuSeconds"]["phases"]}
        self.assertGreater(phases["data_wait"], 5, phases)  # two GPUs, 80 steps of 0.1 s
        self.assertEqual(sum(phases.values()), status["gpuSeconds"]["held"])

    def test_a_deleted_job_leaves_nothing(self):
        self.start("gone", *LONG)
        self.until_step("gone", 1)
        self.assertEqual(len(self.world.children("gone")), 4, "two pods, a group, a service")
        self.world.cluster.request("DELETE", f"{JOBS}/gone")
        self.until(lambda: not self.world.children("gone"), "gone", "end")
        self.assertEqual(self.world.cluster.request("GET", f"{JOBS}/gone")[0], 404)

    # --- pauses

    # promises: B9, D9
    def test_a_paused_job_holds_nothing_and_goes_on_from_its_step(self):
        self.start("held", *LONG, "--checkpoints", "/checkpoints",
                   checkpoint={"uri": "file:///checkpoints"})
        self.until_step("held", 3)
        self.world.edit("held", suspend=True)
        status = self.until_phase("held", "Paused")
        pause = status["pause"]
        self.assertEqual((pause["outcome"], pause["lostSteps"]), ("Committed", 0))
        suspended = self.condition("held", "Suspended")
        self.assertEqual(suspended["status"], "True")
        self.assertIn(str(pause["step"]), suspended["message"])
        # Nothing that anybody else could use: the Service without endpoints waits for the resume.
        self.assertEqual(self.world.children("held"), ["services held-gang"])
        saved = (self.world.checkpoints / "checkpoint.json").read_text()
        self.assertIn(f'"step": {pause["step"]}', saved)
        self.see_what_is_left("held")
        self.world.edit("held", suspend=False)
        self.until_step("held", pause["step"] + 1, attempt=2)
        # containerd copies output to the log file, so a line may arrive after the step it precedes.
        words = f"going on after step {pause['step']}"
        log = lambda: self.world.kubectl.run("logs", "held-2-1", "-c", "trainer")[1]
        self.until(lambda: words in log(), "held", f"line '{words}' in the log of rank 1")
        attempt = self.world.status("held")["attempts"][1]
        self.assertEqual(attempt["resumedFromStep"], pause["step"])
        self.assertGreater(attempt["firstStep"], pause["step"])

    def see_what_is_left(self, name: str) -> None:
        """Of a paused job whose checkpoints are in a volume: a claim, and the log of each rank."""
        ready = self.condition(name, "CheckpointReady")
        self.assertEqual((ready["status"], ready["reason"]), ("Unknown", "NotVerified"))
        self.assertIn("is a folder of the pods, which the operator cannot read", ready["message"])
        self.assertEqual(self.world.pods(name), {})
        log = self.world.amdahl("logs", name, "--attempt", "1", "--rank", "0",
                                "--from", str(self.world.checkpoints))
        self.assertIn(f"rank 1 is {name}-1-1.{name}-gang", log)

    # --- failures

    def cause_of_first_attempt(self, name: str) -> dict:
        status = self.until_phase(name, "Succeeded")
        first, second = status["attempts"]
        self.assertEqual((first["outcome"], second["outcome"]), ("Failed", "Succeeded"))
        self.assertEqual(status["budgets"]["failures"], 1)
        self.assertEqual(first["cause"]["node"], "node-0")
        return first["cause"]

    def test_a_rank_that_the_kernel_kills_for_memory_is_named_and_the_gang_restarts(self):
        self.start("hungry", "--bad", "memory", "--bad-rank", "1",
                   restart={"backoff": "1s", "refillOnProgress": False})
        cause = self.cause_of_first_attempt("hungry")
        self.assertEqual((cause["class"], cause["rank"]), ("ContainerOutOfMemory", 1), cause)
        self.assertEqual((cause["role"], cause["confidence"]), ("Root", "Confirmed"), cause)
        self.assertEqual((cause["pod"], cause["exitCode"]), ("hungry-1-1", 137), cause)

    def test_an_exception_of_one_rank_is_the_cause_in_its_own_words(self):
        self.start("wrong", "--bad", "error", "--bad-rank", "1",
                   restart={"backoff": "1s", "refillOnProgress": False})
        cause = self.cause_of_first_attempt("wrong")
        self.assertEqual((cause["class"], cause["rank"]), ("UserException", 1), cause)
        self.assertRegex(cause["message"],
                         r"^ValueError at /trainer\.py:\d+ in misbehave: the tokenizer has no word")


if __name__ == "__main__":
    unittest.main()
