"""Every field of a TrainingJob's spec changes something on a running cluster: pairs of small jobs.

Fields of checkpoints that need the library are in tests/training_real/test_stores.py, the runtimes
in test_torchrun.py there.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from small_jobs import PROMISES, SLEEP, JobCase, seconds  # noqa: E402

# Every attempt ends otherwise, so that the failures are not one that repeats itself.
FAIL = 'echo "attempt $AMDAHL_ATTEMPT broke" >&2; exit $((AMDAHL_ATTEMPT + 20))'
# Gets ten steps further with every attempt, then fails.
FAIL_FURTHER = """exec python3 -c '
import os, sys, time
from amdahl import job
attempt = int(os.environ["AMDAHL_ATTEMPT"])
for step in range(attempt * 10):
    job.step(step + 1, 1000)
job.committed(attempt * 10, "/nowhere", 1)
time.sleep(0.5)
sys.exit(f"attempt {attempt} broke")'"""
# Trains and does not listen.
DEAF = """exec python3 -c '
import signal, time
from amdahl import job
for one in (signal.SIGTERM, signal.SIGUSR1):
    signal.signal(one, signal.SIG_IGN)
for step in range(6000):
    job.step(step + 1, 6000)
    time.sleep(0.1)'"""


class SpecFields(JobCase):
    # --- what runs

    # fields: spec.nodes, spec.template, spec.suspend
    def test_nodes_template_and_suspend(self):
        job = self.start("gang", 'echo "I am $WHO"; exec sleep 600', nodes=3, suspend=True,
                         container={"env": [{"name": "WHO", "value": "first"}]})
        self.until_phase("gang", "Paused")
        self.assertEqual(self.pods("gang"), [])
        job["spec"]["suspend"] = False
        self.apply(job)
        self.until_phase("gang", "Running")
        self.assertEqual(len(self.pods("gang")), 3)
        self.until(lambda: "I am first" in self.log("gang"), "what the template says")
        job["spec"]["suspend"] = True
        self.apply(job)
        self.until_phase("gang", "Paused")
        job["spec"]["nodes"] = 2
        job["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] = "second"
        self.apply(job)
        job["spec"]["suspend"] = False
        self.apply(job)
        status = self.until_phase("gang", "Running")
        attempt = status["attempt"]
        self.assertEqual(len(self.pods("gang")), 2)
        self.until(lambda: "I am second" in self.log("gang", attempt), "the other template")

    # fields: spec.processesPerNode, spec.checkpoint.interval, spec.checkpoint.arenaBytes
    def test_what_a_trainer_is_told(self):
        script = ('echo "$PET_NPROC_PER_NODE $AMDAHL_CHECKPOINT_INTERVAL_SECONDS '
                  '[$AMDAHL_ARENA_BYTES]"; test -z "$AMDAHL_ARENA_DIR" || '
                  'echo x > "$AMDAHL_ARENA_DIR/file"')
        uri = f"file://{self.home.path}/none"
        self.start("three", script, processesPerNode=3,
                   checkpoint={"uri": uri, "interval": "7s", "arenaBytes": "16Mi"})
        self.start("one", script, checkpoint={"uri": uri, "interval": "9s"})
        for name, told in (("three", f"3 7 [{16 << 20}]"), ("one", "1 9 []")):
            self.until_phase(name, "Succeeded")
            self.assertIn(told, self.log(name))

    # fields: spec.family
    def test_family(self):
        self.start("kin-1", SLEEP, family="cousins")
        self.start("kin-2", SLEEP)
        for name, family in (("kin-1", "cousins"), ("kin-2", "kin")):
            pod = self.until(lambda name=name: self.pods(name), "a pod")[0]
            self.assertEqual(pod["metadata"]["labels"]["amdahl.dev/family"], family)

    # fields: spec.cancel
    def test_cancel(self):
        job = self.start("cancelled", SLEEP)
        self.until_phase("cancelled", "Running")
        job["spec"]["cancel"] = True
        self.apply(job)
        self.until_phase("cancelled", "Cancelled")
        self.until(lambda: not self.pods("cancelled"), "its pods are gone")

    # --- where it runs

    # fields: spec.scheduling.gang
    def test_gang(self):
        self.start("together", SLEEP)
        self.group("together")
        self.start("alone", SLEEP, scheduling={"gang": "None"})
        self.until_phase("alone", "Running")
        self.assertNotIn("alone", [one["metadata"]["labels"].get("amdahl.dev/job")
                                   for one in self.get("podgroups")["items"]])
        self.assertEqual(self.pods("together")[0]["spec"]["schedulerName"], "volcano")
        self.assertNotEqual(self.pods("alone")[0]["spec"].get("schedulerName"), "volcano")

    # fields: spec.scheduling.queue, spec.scheduling.priorityClassName
    # fields: spec.scheduling.networkTopology.mode
    # fields: spec.scheduling.networkTopology.highestTierAllowed
    def test_what_the_gang_scheduler_is_told(self):
        self.apply({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
                    "metadata": {"name": "team"}, "spec": {"weight": 1}})
        self.start("told", SLEEP, scheduling={
            "queue": "team", "priorityClassName": "system-node-critical-not",
            "networkTopology": {"mode": "hard", "highestTierAllowed": 2}})
        spec = self.group("told")["spec"]
        self.assertEqual((spec["queue"], spec["priorityClassName"]),
                         ("team", "system-node-critical-not"))
        self.assertEqual(spec["networkTopology"], {"mode": "hard", "highestTierAllowed": 2})
        pod = self.until(lambda: self.pods("told"), "a pod")[0]
        self.assertEqual(pod["spec"]["priorityClassName"], "system-node-critical-not")
        self.start("untold", SLEEP, scheduling={"networkTopology": {}})
        spec = self.group("untold")["spec"]
        self.assertEqual((spec["queue"], spec["networkTopology"]), ("default", {"mode": "soft"}))
        self.start("nowhere", SLEEP, scheduling={"queue": "missing"})
        self.until(lambda: self.status("nowhere").get("pending", {}).get("reason") ==
                   "QueueMissing", "a queue that is not there")

    # promises: B9
    # fields: spec.scheduling.networkTopology.mode
    # fields: spec.scheduling.networkTopology.highestTierAllowed
    def test_an_edited_topology_reaches_the_group(self):
        """Of a gang that waits for nodes at once, of a paused one when it resumes."""
        tier = {"networkTopology": {"mode": "hard", "highestTierAllowed": 1}}
        job = self.start("waits", SLEEP, cpu="100000", scheduling=tier)
        self.assertEqual(self.group("waits")["spec"]["networkTopology"], tier["networkTopology"])
        job["spec"]["scheduling"] = {"networkTopology": {"mode": "hard", "highestTierAllowed": 2}}
        self.apply(job)
        self.until(lambda: self.group("waits")["spec"]["networkTopology"] ==
                   {"mode": "hard", "highestTierAllowed": 2}, "the group has the other tier")
        job["spec"]["scheduling"] = {}
        self.apply(job)
        self.until(lambda: "networkTopology" not in self.group("waits")["spec"],
                   "the group has none")
        self.assertEqual(self.group("waits")["spec"]["queue"], "default")
        job = self.start("moved", SLEEP, scheduling=tier)
        self.until_phase("moved", "Running")
        self.assertEqual(self.group("moved")["spec"]["networkTopology"], tier["networkTopology"])
        job["spec"]["suspend"] = True
        self.apply(job)
        self.until_phase("moved", "Paused")
        job["spec"]["scheduling"]["networkTopology"] = {"mode": "soft", "highestTierAllowed": 3}
        self.apply(job)
        job["spec"]["suspend"] = False
        self.apply(job)
        self.until(lambda: self.status("moved").get("attempt") == 2, "another attempt")
        self.until_phase("moved", "Running")
        self.assertEqual(self.group("moved")["spec"]["networkTopology"],
                         {"mode": "soft", "highestTierAllowed": 3})

    # fields: spec.scheduling.admission
    def test_admission(self):
        self.apply({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
                    "metadata": {"name": "narrow"},
                    "spec": {"weight": 1, "capability": {"cpu": "1", "memory": "1Gi"}}})
        large = {"cpu": "2"}
        self.start("first-asked", SLEEP, scheduling={"queue": "narrow", "admission": "Fixed"},
                   **large)
        self.start("at-once", SLEEP, scheduling={"queue": "narrow"}, **large)
        self.assertIn("minResources", self.group("first-asked")["spec"])
        self.assertNotIn("minResources", self.group("at-once")["spec"])
        self.until(lambda: self.pods("at-once"), "its pod waits for a node")
        self.until(lambda: self.status("first-asked").get("phase") == "Queued", "the queue")
        self.assertEqual(self.pods("first-asked"), [])

    # --- how often and how long

    # fields: spec.restart.maxFailures
    def test_max_failures(self):
        for name, failures in (("none", 0), ("twice", 2)):
            self.start(name, FAIL, restart={"maxFailures": failures, "backoff": "0s"})
        for name, attempts in (("none", 1), ("twice", 3)):
            self.assertEqual(self.failed(name)["reason"], "FailureBudgetSpent")
            self.assertEqual(len(self.status(name)["attempts"]), attempts)

    # fields: spec.restart.maxDisruptions
    def test_max_disruptions(self):
        for name, disruptions in (("fragile", 0), ("robust", 5)):
            self.start(name, SLEEP, restart={"maxDisruptions": disruptions, "backoff": "0s"})
            self.until_phase(name, "Running")
            self.home.run("delete", "pod", f"{name}-1-0")
        self.assertEqual(self.failed("fragile")["reason"], "DisruptionBudgetSpent")
        self.until(lambda: self.status("robust")["attempt"] == 2, "another attempt")
        self.until_phase("robust", "Running")

    # fields: spec.restart.refillOnProgress
    def test_refill_on_progress(self):
        for name, refill in (("refilled", True), ("spent", False)):
            self.start(name, FAIL_FURTHER,
                       checkpoint={"uri": f"file://{self.home.path}/{name}"},
                       restart={"maxFailures": 1, "backoff": "0s", "refillOnProgress": refill})
        self.assertEqual(self.failed("spent")["reason"], "FailureBudgetSpent")
        self.assertEqual(len(self.status("spent")["attempts"]), 2)
        self.until(lambda: self.status("refilled")["attempt"] >= 4, "more attempts than failures")

    # fields: spec.restart.backoff, spec.restart.backoffMax
    def test_backoff(self):
        self.start("slow", FAIL, restart={"maxFailures": 3, "backoff": "1h", "backoffMax": "1h"})
        self.until(lambda: self.status("slow").get("pending", {}).get("reason") == "Backoff",
                   "it waits")
        waits = {}
        for name, most in (("doubled", "1h"), ("bounded", "3s")):
            self.start(name, FAIL, restart={"maxFailures": 2, "backoff": "3s", "backoffMax": most})
        for name in ("doubled", "bounded"):
            self.failed(name)
            attempts = self.status(name)["attempts"]
            waits[name] = seconds(attempts[1]["endedAt"], attempts[2]["startedAt"])
        self.assertGreaterEqual(waits["doubled"], 5)  # 6 seconds, of times that are whole ones
        self.assertLess(waits["bounded"], waits["doubled"])
        self.assertEqual(len(self.status("slow")["attempts"]), 2)
        attempts = [one["metadata"]["labels"]["amdahl.dev/attempt"] for one in self.pods("slow")]
        self.assertNotIn("2", attempts)

    # fields: spec.deadlines.queue
    def test_deadline_of_the_queue(self):
        self.start("impatient", SLEEP, cpu="100000", deadlines={"queue": "2s"})
        self.start("patient", SLEEP, cpu="100000")
        self.assertEqual(self.failed("impatient")["reason"], "QueueDeadlineExceeded")
        self.assertIn(self.status("patient")["phase"], ("Pending", "Queued"))

    # fields: spec.deadlines.start
    def test_deadline_of_the_start(self):
        init = {"initContainers": [{"name": "slow", "image": "none",
                                    "command": ["sleep", "600"]}]}
        self.start("late", SLEEP, pod=init, deadlines={"start": "2s"})
        self.start("later", SLEEP, pod=init)
        self.assertEqual(self.failed("late")["reason"], "StartDeadlineExceeded")
        self.assertEqual(self.status("later")["phase"], "Starting")

    # fields: spec.deadlines.active
    def test_deadline_of_the_training(self):
        self.start("long", SLEEP, deadlines={"active": "2s"})
        self.start("longer", SLEEP)
        self.assertEqual(self.failed("long")["reason"], "ActiveDeadlineExceeded")
        self.assertEqual(self.status("longer")["phase"], "Running")

    # fields: spec.ttlAfterFinished
    def test_time_to_live(self):
        self.start("gone", ttlAfterFinished="0s")
        self.start("kept")
        self.until_phase("kept", "Succeeded")
        self.until(lambda: self.home.run("get", "trainingjob", "gone", check=False).returncode,
                   "it is removed")
        self.assertEqual(self.status("kept")["phase"], "Succeeded")

    # fields: spec.checkpoint.pause.deadline, spec.checkpoint.pause.policy
    def test_pause(self):
        uri = f"file://{self.home.path}/deaf"
        deaf = {"careful": {"policy": "Committed", "deadline": "2s"},
                "quick": {"policy": "BestEffort", "deadline": "2s"}}
        jobs = {name: self.start(name, DEAF, checkpoint={"uri": uri, "pause": pause})
                for name, pause in deaf.items()}
        for name in deaf:
            self.until(lambda name=name: self.status(name).get("progress", {}).get("step"),
                       "a step")
        for name, job in jobs.items():
            job["spec"]["suspend"] = True
            self.apply(job)
        status = self.until_phase("quick", "Paused")
        pause = status["pause"]
        self.assertGreater(pause["lostSteps"], 0)
        self.assertLess(seconds(pause["requestedAt"], pause["recordedAt"]), 90)  # 120 by default
        self.until(lambda: self.status("careful").get("pause", {}).get("outcome"), "it is refused")
        self.until_phase("careful", "Running")
        self.assertEqual(len(self.pods("careful")), 1)

    # fields: spec.checkpoint.pause.deadline
    def test_a_pause_waits_as_long_as_its_deadline_says(self):
        jobs = {}
        for name, deadline in (("patient", "1h"), ("hurried", "2s")):
            jobs[name] = self.start(name, PROMISES, checkpoint={
                "uri": f"file://{self.home.path}/{name}",
                "pause": {"policy": "BestEffort", "deadline": deadline}})
        for name in jobs:
            self.until(lambda name=name: self.status(name).get("progress", {}).get("step"),
                       "a step")
        for job in jobs.values():  # the patient one first
            job["spec"]["suspend"] = True
            self.apply(job)
        self.assertIn("deadline", self.until_phase("hurried", "Paused")["pause"]["message"])
        self.assertEqual(self.status("patient")["phase"], "Pausing")


if __name__ == "__main__":
    unittest.main()
