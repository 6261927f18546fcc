"""amdahl-operator on a real kube-apiserver, with only the rights of deploy/rbac.yaml."""

import json
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gang_world import World  # noqa: E402
from job_world import JOBS, ROOT, wait_for  # noqa: E402


def merged(whole: dict, change: dict) -> dict:
    """RFC 7386, without removals."""
    both = dict(whole)
    for key, value in change.items():
        old = both.get(key)
        both[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) \
            else value
    return both


class OperatorOnRealServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = World()
        cls.addClassCleanup(cls.world.close)
        cls.first = cls.world.operator("first")

    def tearDown(self):
        denied = [line for line in self.first.lines() if "forbidden" in str(line).lower()]
        self.assertEqual(denied, [], "deploy/rbac.yaml lacks a right")

    def start(self, name: str, nodes: int = 2, **spec) -> list[str]:
        status, body = self.world.submit(name, nodes, **spec)
        self.assertEqual(status, 201, body)
        pods = [f"{name}-1-{rank}" for rank in range(nodes)]
        self.world.wait_for_pods(name, *pods)
        return pods

    def test_a_gang_succeeds_and_leaves_nothing_but_ended_pods(self):
        pods = self.start("good")
        self.world.run(*pods)
        self.world.wait_for_phase("good", "Running")
        self.world.set_status("Succeeded", *pods, code=0, reason="Completed")
        status = self.world.wait_for_phase("good", "Succeeded")
        self.assertEqual(status["attempts"][0]["outcome"], "Succeeded")
        wait_for(lambda: not self.world.gang_of("good"),
                 lambda: f"left: {self.world.children('good')}")
        for pod in self.world.pods("good").values():
            self.assertNotIn("finalizers", pod["metadata"])

    def test_a_lost_rank_restarts_the_whole_gang_with_its_cause(self):
        pods = self.start("shaky")
        self.world.run(*pods)
        self.world.wait_for_phase("shaky", "Running")
        self.world.set_status("Failed", pods[1], code=137, reason="OOMKilled")
        wait_for(lambda: "deletionTimestamp" in self.world.pods("shaky")
                 .get(pods[0], {"metadata": {"deletionTimestamp": ""}})["metadata"])
        self.world.end_deleted("shaky")
        again = ["shaky-2-0", "shaky-2-1"]
        wait_for(lambda: set(again) <= set(self.world.pods("shaky")),
                 lambda: f"{sorted(self.world.pods('shaky'))} {self.world.status('shaky')}")
        first = self.world.status("shaky")["attempts"][0]
        self.assertEqual(first["cause"]["class"], "ContainerOutOfMemory")
        self.assertEqual(first["cause"]["rank"], 1)
        self.world.run(*again)
        self.world.set_status("Succeeded", *again, code=0, reason="Completed")
        self.world.wait_for_phase("shaky", "Succeeded")

    def test_pause_resume_cancel(self):
        pods = self.start("held")
        self.world.run(*pods)
        self.world.wait_for_phase("held", "Running")
        self.world.edit("held", suspend=True)
        wait_for(lambda: self.world.end_deleted("held") or
                 self.world.status("held").get("phase") == "Paused",
                 lambda: str(self.world.status("held")))
        wait_for(lambda: self.world.children("held") == ["services held-gang"],
                 lambda: str(self.world.children("held")))
        self.assertEqual(self.world.status("held")["budgets"]["failures"], 0)
        self.world.edit("held", suspend=False)
        self.world.wait_for_pods("held", "held-2-0", "held-2-1")
        self.world.edit("held", cancel=True)
        wait_for(lambda: self.world.end_deleted("held") or
                 self.world.status("held").get("phase") == "Cancelled")
        wait_for(lambda: not self.world.gang_of("held"))

    def test_a_deleted_job_takes_its_gang_along(self):
        pods = self.start("gone")
        self.world.run(*pods)
        self.world.wait_for_phase("gone", "Running")
        self.world.cluster.request("DELETE", f"{JOBS}/gone")
        self.world.collect_garbage("gone")  # pods stay until the operator has seen their end
        wait_for(lambda: self.world.end_deleted("gone") or not self.world.children("gone"),
                 lambda: f"left: {self.world.children('gone')}")

    # promises: A9
    def test_the_policy_refuses_the_templates_that_the_operator_refuses(self):
        samples = json.loads((ROOT / "tests/api/template_samples.json").read_text())
        for number, row in enumerate(samples["rows"]):
            with self.subTest(row):
                spec = merged(samples["good"], row["change"])
                job = {"apiVersion": "amdahl.dev/v1alpha1", "kind": "TrainingJob",
                       "metadata": {"name": f"sample-{number}"}, "spec": spec}
                status, body = self.world.cluster.request("POST", f"{JOBS}?dryRun=All", job)
                self.assertEqual(status, 422 if "refused" in row else 201, body)
                if "refused" in row:
                    self.assertIn(row["refused"].rpartition(": ")[2], body["message"])

    # promises: A9
    def test_a_stored_job_can_be_cancelled_whatever_the_policy_says_of_its_template(self):
        policy = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
        binding = "trainingjobs.amdahl.dev"
        status, kept = self.world.cluster.request("GET", f"{policy}/{binding}")
        self.assertEqual(status, 200, kept)
        self.world.cluster.request("DELETE", f"{policy}/{binding}")
        wait_for(lambda: self.world.submit("older", template={"hostNetwork": True},
                                           suspend=True)[0] == 201)
        del kept["metadata"]["resourceVersion"], kept["metadata"]["uid"]
        self.world.cluster.request("POST", policy, kept)
        wait_for(lambda: self.world.submit("newer", template={"hostNetwork": True})[0] == 422)
        self.world.edit("older", cancel=True)

    def test_a_template_the_server_refuses_ends_the_job_with_its_words(self):
        container = {"name": "Not_A_Name", "image": "none", "command": ["train"]}
        status, body = self.world.submit("odd", template={"containers": [container]})
        self.assertEqual(status, 201, body)
        status = self.world.wait_for_phase("odd", "Failed")
        failed = next(c for c in status["conditions"] if c["type"] == "Failed")
        self.assertIn("Not_A_Name", failed["message"])
        wait_for(lambda: not self.world.children("odd"), lambda: str(self.world.children("odd")))

    def test_metrics_tell_of_jobs_while_they_go_on(self):
        pods = self.start("seen")
        self.world.run(*pods)
        self.world.wait_for_phase("seen", "Running")
        wait_for(lambda: re.search(r'amdahl_training_job_restarts_total\{namespace="default",'
                                   r'training_job="seen"\} 0', self.first.metrics()))
        self.assertIn('phase="Running"', self.first.metrics())
        self.world.set_status("Succeeded", *pods, code=0, reason="Completed")
        self.world.wait_for_phase("seen", "Succeeded")
        wait_for(lambda: 'training_job="seen"' not in self.first.metrics())


class TwoReplicas(unittest.TestCase):
    def test_the_second_takes_over_from_a_killed_first_and_from_one_that_stops(self):
        world = World()
        self.addCleanup(world.close)
        first = world.operator("first")
        self.assertEqual(world.submit("job")[0], 201)
        world.wait_for_pods("job", "job-1-0", "job-1-1")
        second = world.operator("second")
        second.port_of_probes()
        first.stop(kill=True)
        world.run("job-1-0", "job-1-1")
        world.wait_for_phase("job", "Running")  # after the lease of the first has run out
        third = world.operator("third")
        third.port_of_probes()
        self.assertEqual(second.stop(), 0)
        world.set_status("Succeeded", "job-1-0", "job-1-1", code=0, reason="Completed")
        world.wait_for_phase("job", "Succeeded")
        self.assertEqual(sorted(world.pods("job")), ["job-1-0", "job-1-1"])


if __name__ == "__main__":
    unittest.main()
