"""From "a pod has failed" to "the restart is decided", for the pods of running gangs.

The bench plays kubelet: it binds the pods, says that they run, then that one ended with an error.
The clock starts when the API server has answered that last write, and stops when a watch of the
jobs shows the operator's first write for it: the attempt has ended, another one follows.
"""

import json
import threading
import time

from client_process import MeasurementError
from operator_contestants import Call
from operator_measure import JOBS, Plan, Running
from operator_world import MERGE
from report import percentile

PODS = f"/api/v1/namespaces/{JOBS}/pods"
DECIDE_SECONDS_MAX = 30
PODS_OF_A_JOB = 4
PAUSE_SECONDS = 0.02  # between two failures: one must not measure the work of the one before


class Decisions:
    """When each job's status first showed the end of its first attempt."""

    def __init__(self, running: Running):
        self._running, self._seen, self._changed = running, {}, threading.Condition()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def wait(self, job: str) -> float:
        deadline = time.monotonic() + DECIDE_SECONDS_MAX
        with self._changed:
            while job not in self._seen:
                if not self._changed.wait(deadline - time.monotonic()):
                    raise MeasurementError(f"{job}: no restart was decided in "
                                           f"{DECIDE_SECONDS_MAX} s")
            return self._seen[job]

    def _watch(self) -> None:
        path = self._running.contestant.jobs_path(JOBS)
        for event in self._running.world.cluster.watch(path, seconds=600):
            now = time.monotonic()
            attempts = event["object"].get("status", {}).get("attempts", [])
            if attempts and "endedAt" in attempts[0]:
                with self._changed:
                    self._seen.setdefault(event["object"]["metadata"]["name"], now)
                    self._changed.notify_all()


def measure_failures(running: Running, plan: Plan) -> dict[str, float]:
    world = running.world
    running.warm_up()
    world.namespace(JOBS)
    running.create(JOBS, "job", plan.failures, PODS_OF_A_JOB)
    running.wait_for_pods(JOBS, plan.failures * PODS_OF_A_JOB, plan.wait_seconds)
    names = [pod["metadata"]["name"] for pod in world.get(PODS)["items"]]
    world.send_all([_bind(name) for name in names])
    world.send_all([_status(name, "Running") for name in names])
    running.settle()
    decisions, taken = Decisions(running), []
    for number in range(plan.failures):
        name = f"job-{number}"
        world.send(_status(f"{name}-1-{number % PODS_OF_A_JOB}", "Failed"))
        failed = time.monotonic()
        # May be below zero: the decision can be seen before the answer to the write is.
        taken.append(1000 * (decisions.wait(name) - failed))
        time.sleep(PAUSE_SECONDS)
    return {"failure_p50": percentile(taken, 50), "failure_p99": percentile(taken, 99)}


def _bind(pod: str) -> Call:
    return Call("POST", f"{PODS}/{pod}/binding", json.dumps({
        "metadata": {"name": pod}, "target": {"kind": "Node", "name": "n1"}}))


def _status(pod: str, phase: str) -> Call:
    running = phase == "Running"
    ended = {"exitCode": 1, "reason": "Error",
             "finishedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    return Call("PATCH", f"{PODS}/{pod}/status", json.dumps({"status": {
        "phase": phase, "conditions": [{"type": "Ready", "status": str(running)}],
        "containerStatuses": [{
            "name": "trainer", "image": "none", "imageID": "", "ready": running, "restartCount": 0,
            "state": {"running": {}} if running else {"terminated": ended}}]}}), MERGE)
