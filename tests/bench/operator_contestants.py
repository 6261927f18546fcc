"""Who takes part: how each controller is started, and what its jobs, pauses and resumes look like.

The pods are the same for all: one container, a request of CPU, restartPolicy Never. Whatever a
controller adds to them (environment, init containers, finalizers) is its own business.
"""

import dataclasses
import json
import sys
from pathlib import Path

import machine
import operator_report as report

sys.path.insert(0, str(machine.ROOT / "tests" / "cluster"))

import build  # noqa: E402

NAMESPACE_OF_LEASES = "amdahl-system"
NO_ELECTION = "--no-leader-election"  # nobody has one: a server under load must not end a leader
MERGE = "application/merge-patch+json"
QPS, BURST, WORKERS = 5_000, 10_000, 50  # "raised": no limit that these machines could reach
KUBEFLOW_PROGRAM = machine.ROOT / "build" / "peers" / "kubeflow-pytorchjob"
# Pods as they are with an installation: a launcher from an image, a token to report with.
AS_INSTALLED = ("--launch-image", "launch.example/launch:1",
                "--report-url", "https://amdahl-operator.amdahl-system:8443")
ROOT_PATHS = {report.OURS: "/apis/amdahl.dev/v1alpha1", report.FLOOR: "/apis/batch/v1",
              report.FLOOR_OUR_PODS: "/apis/batch/v1",
              "kubeflow": "/apis/kubeflow.org/v1", "volcano": "/apis/batch.volcano.sh/v1alpha1"}
COMMANDS = "/apis/bus.volcano.sh/v1alpha1"


@dataclasses.dataclass(frozen=True)
class Call:
    """One request of the load generator, its body ready to be sent."""

    method: str
    path: str
    body: str
    content_type: str = "application/json"


@dataclasses.dataclass(frozen=True)
class Contestant:
    name: str
    program: Path
    flags: tuple[str, ...]  # "{kubeconfig}" is filled in
    plural: str
    kind: str
    environment: tuple[tuple[str, str], ...] = ()
    gangs_are_let_in: bool = False  # needs somebody who plays the gang scheduler's queue
    template: str = ""  # JSON of the pods' template, where it is known only at run time

    @property
    def family(self) -> str:
        return self.name.removesuffix("-shipped")

    def command(self, kubeconfig: Path) -> list[str]:
        return [str(self.program), *(flag.format(kubeconfig=kubeconfig) for flag in self.flags)]

    def jobs_path(self, namespace: str) -> str:
        return f"{ROOT_PATHS[self.family]}/namespaces/{namespace}/{self.plural}"

    def create(self, namespace: str, name: str, pods: int) -> Call:
        spec = SPECS[self.family](pods)
        if self.template:
            spec["template"] = json.loads(self.template)
        job = {"apiVersion": ROOT_PATHS[self.family].removeprefix("/apis/"), "kind": self.kind,
               "metadata": {"name": name, "namespace": namespace}, "spec": spec}
        return Call("POST", self.jobs_path(namespace), json.dumps(job))

    def pause(self, namespace: str, name: str) -> Call:
        return self._switch(namespace, name, True)

    def resume(self, namespace: str, name: str) -> Call:
        return self._switch(namespace, name, False)

    def _switch(self, namespace: str, name: str, suspend: bool) -> Call:
        if self.family == "volcano":
            return self._volcano_command(namespace, name, "AbortJob" if suspend else "ResumeJob")
        spec: dict = {"suspend": suspend}
        if self.family == "kubeflow":
            spec = {"runPolicy": spec}
        return Call("PATCH", f"{self.jobs_path(namespace)}/{name}", json.dumps({"spec": spec}),
                    MERGE)

    def _volcano_command(self, namespace: str, name: str, action: str) -> Call:
        """What `vcctl job suspend` and `resume` send, but for the owner, which nothing reads."""
        body = {"apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command", "action": action,
                "metadata": {"name": f"{name}-{action.lower()}", "namespace": namespace},
                "target": {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": self.kind,
                           "name": name, "uid": "any", "controller": True}}
        return Call("POST", f"{COMMANDS}/namespaces/{namespace}/commands", json.dumps(body))


def _pod(container: str, **more) -> dict:
    return {"spec": {"containers": [{
        "name": container, "image": "trainer.example/trainer:1",
        "command": ["python3", "train.py", "--epochs", "3"],
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}], **more}}


def _amdahl_spec(pods: int) -> dict:
    return {"runtime": "Torchrun", "nodes": pods, "template": _pod("trainer"),
            "restart": {"backoff": "1s"}}


def _job_spec(pods: int) -> dict:
    return {"completionMode": "Indexed", "completions": pods, "parallelism": pods,
            "backoffLimit": 100, "template": _pod("trainer", restartPolicy="Never")}


def _kubeflow_spec(pods: int) -> dict:
    def replicas(count: int) -> dict:
        return {"replicas": count, "restartPolicy": "Never", "template": _pod("pytorch")}

    kinds = {"Master": replicas(1)} | ({"Worker": replicas(pods - 1)} if pods > 1 else {})
    return {"runPolicy": {"suspend": False}, "pytorchReplicaSpecs": kinds}


def _volcano_spec(pods: int) -> dict:
    # svc: ranks find each other by name, as those of the others do.
    return {"minAvailable": pods, "schedulerName": "volcano", "queue": "default", "maxRetry": 100,
            "plugins": {"svc": ["--disable-network-policy=true"]},
            "tasks": [{"name": "worker", "replicas": pods,
                       "template": _pod("trainer", restartPolicy="Never")}]}


SPECS = {report.OURS: _amdahl_spec, report.FLOOR: _job_spec, report.FLOOR_OUR_PODS: _job_spec,
         "kubeflow": _kubeflow_spec, "volcano": _volcano_spec}
# What the API server or a controller adds to one pod, and what names that one pod.
NOT_OF_A_TEMPLATE = {"metadata": ("labels", "annotations"),
                     "spec": ("nodeName", "hostname", "priority", "preemptionPolicy",
                              "enableServiceLinks", "serviceAccount")}


def with_our_pods(floor: Contestant, pod: dict) -> Contestant:
    """Jobs whose pods are as heavy as `pod`, which our operator made. Its finalizer is left out:
    batch/v1 puts one on every pod itself."""
    metadata = {key: pod["metadata"][key] for key in NOT_OF_A_TEMPLATE["metadata"]
                if key in pod["metadata"]}
    spec = {key: value for key, value in pod["spec"].items()
            if key not in NOT_OF_A_TEMPLATE["spec"]}
    return dataclasses.replace(floor, template=json.dumps({"metadata": metadata, "spec": spec}))


def with_election(ours: Contestant) -> Contestant:
    """As it is deployed: for what it costs when nothing happens."""
    flags = tuple(flag for flag in ours.flags if flag != NO_ELECTION)
    return dataclasses.replace(ours, flags=(*flags, "--lease-namespace", NAMESPACE_OF_LEASES))


def contestants(operator: Path) -> dict[str, Contestant]:
    rate = (f"--kube-api-qps={QPS}", f"--kube-api-burst={BURST}")
    volcano = ("--kubeconfig={kubeconfig}", "--leader-elect=false",
               "--controllers=+job-controller,+queue-controller,+pg-controller,+gc-controller")
    everyone = [
        Contestant(report.OURS, operator,
                   ("--kubeconfig", "{kubeconfig}", NO_ELECTION,
                    "--probe-address", "127.0.0.1:0", "--report-address", "127.0.0.1:0",
                    *AS_INSTALLED),
                   "trainingjobs", "TrainingJob"),
        *(Contestant(name, build.program("kube-controller-manager"),
                     ("--kubeconfig={kubeconfig}", "--leader-elect=false", "--secure-port=0",
                      "--controllers=job-controller", f"--concurrent-job-syncs={WORKERS}", *rate),
                     "jobs", "Job") for name in (report.FLOOR, report.FLOOR_OUR_PODS)),
        Contestant("volcano", build.program("vc-controller-manager"),
                   (*volcano, f"--worker-threads={WORKERS}", *rate), "jobs", "Job",
                   gangs_are_let_in=True),
        Contestant("volcano-shipped", build.program("vc-controller-manager"), volcano, "jobs",
                   "Job", gangs_are_let_in=True),
        Contestant("kubeflow", KUBEFLOW_PROGRAM,
                   ("--kubeconfig={kubeconfig}", f"--threads={WORKERS}", f"--qps={QPS}",
                    f"--burst={BURST}"), "pytorchjobs", "PyTorchJob"),
        Contestant("kubeflow-shipped", KUBEFLOW_PROGRAM, ("--kubeconfig={kubeconfig}",),
                   "pytorchjobs", "PyTorchJob"),
    ]
    return {one.name: one for one in everyone}
