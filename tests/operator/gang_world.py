"""A server with the operator's manifests and no other program: the test plays kubelet and Volcano.
"""

import os
import time

from job_world import MERGE, PODS, JobWorld, testbed


class World(JobWorld):
    def __init__(self):
        super().__init__(testbed.Cluster(f"operator-{os.getpid()}").up(),
                         "local/scheduler/volcano_crds.yaml")

    def close(self) -> None:
        super().close()
        self.cluster.down()

    def bind(self, *pods: str) -> None:
        for pod in pods:
            target = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod},
                      "target": {"kind": "Node", "name": "n1"}}
            self.cluster.request("POST", f"{PODS}/{pod}/binding", target)

    def set_status(self, phase: str, *pods: str, code: int | None = None, reason: str = "") -> None:
        state = {"running": {}} if code is None else {
            "terminated": {"exitCode": code, "reason": reason or "Error",
                           "finishedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}}
        ready = "True" if phase == "Running" else "False"
        for pod in pods:
            body = {"status": {"phase": phase,
                               "conditions": [{"type": "Ready", "status": ready}],
                               "containerStatuses": [{"name": "trainer", "image": "none",
                                                      "imageID": "", "ready": phase == "Running",
                                                      "restartCount": 0, "state": state}]}}
            self.cluster.request("PATCH", f"{PODS}/{pod}/status", body, content_type=MERGE)

    def run(self, *pods: str) -> None:
        self.bind(*pods)
        self.set_status("Running", *pods)

    def end_deleted(self, job: str) -> None:
        """A kubelet's part in a deletion: the container ends, and the pod goes without grace."""
        for name, pod in self.pods(job).items():
            if "deletionTimestamp" in pod["metadata"]:
                self.set_status("Failed", name, code=143)
                self.cluster.request("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})

    def collect_garbage(self, job: str) -> None:
        """The controller manager's part: children of a job that is gone are deleted."""
        for path, name in self._children(job):
            self.cluster.request("DELETE", f"{path}/{name}")
