"""Classes of causes on a running cluster: all jobs start together, each comes to its own end.

Where a script or the embedded cluster is the source, it is; where a real cluster would need
hardware, a registry or a second scheduler, the test writes what that component writes. The other
classes are in test_diagnosis.py and test_torchrun.py; docs/explanation/why.md has the list.
"""

import http.client
import json
import ssl
import sys
import time
import unittest
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "embedded"))

from local_cli import Home  # noqa: E402

SECONDS = 120  # for one thing to happen on a busy machine
JOBS = "/apis/amdahl.dev/v1alpha1/namespaces/default/trainingjobs"
PODS = "/api/v1/namespaces/default/pods"
NODES = "/api/v1/nodes"
MERGE = "application/merge-patch+json"
REAL, FAULTY = "local-0", "local-1"  # nodes of the embedded cluster: their pods are processes
PLAYED, LOST = "played-0", "played-1"  # nodes whose kubelet is this test

WAITS = "import time\ntime.sleep(3600)\n"
# Stands until the test touches a file, then goes on.
UNTIL_TOLD = """\
import os, sys, time
while not os.path.exists(os.environ["TOLD"]):
    time.sleep(0.05)
"""
PEER = "[/pytorch/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.1]:54021"
WATCHDOG = ("[rank0]:[E1118 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective "
            "operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
            "Timeout(ms)=600000) ran for 600021 milliseconds before timing out.")


def raises(module: str, name: str, message: str, base: str = "RuntimeError") -> str:
    """A script that ends with the exception of a library that is not installed here."""
    return (f"class {name}({base}):\n    __module__ = {module!r}\n\n"
            f"def train():\n    raise {name}({message!r})\n\ntrain()\n")


@dataclass(frozen=True)
class Row:
    cause: str
    says: str  # in the message
    script: str = WAITS
    node: str = REAL
    nodes: int = 1
    pod: dict = field(default_factory=dict)
    happens: str = ""  # the method that plays the source; empty: the script is it
    status: dict = field(default_factory=dict)  # of a pod on PLAYED, as its kubelet writes it

    @property
    def name(self) -> str:
        return self.cause.lower()


def failed(reason: str, message: str) -> dict:
    return {"phase": "Failed", "reason": reason, "message": message}


def not_pulled(why: str) -> dict:
    """Bound ten minutes ago: the operator waits for five before it gives the nodes back."""
    message = f'failed to pull and unpack image "registry.example/llama:1": {why}'
    return {"phase": "Pending",
            "conditions": [{"type": "PodScheduled", "status": "True",
                            "lastTransitionTime": stamp(-600)}],
            "containerStatuses": [{
                "name": "trainer", "image": "registry.example/llama:1", "imageID": "",
                "ready": False, "restartCount": 0,
                "state": {"waiting": {"reason": "ErrImagePull", "message": message}}}]}


def stamp(offset: float = 0) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + offset))


SCRIPTS = [
    Row("Killed", "nothing says who sent it",
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"),
    Row("NativeCrash", "SIGSEGV", "import ctypes\nctypes.string_at(0)\n"),
    Row("Unknown", "exit code 3", "raise SystemExit(3)\n"),
    Row("GpuOutOfMemory", "torch.OutOfMemoryError at",
        raises("torch", "OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB.")),
    Row("Diverged", "loss is nan", "def train():\n    raise ValueError('loss is nan at step 7')\n\n"
        "train()\n"),
    Row("WorkerProcessKilled", "killed by signal", "raise RuntimeError('DataLoader worker "
        "(pid 71) is killed by signal: Killed. ')\n"),
    Row("PeerConnectionLost", "Connection closed by peer", f"raise RuntimeError({PEER!r})\n"),
    Row("CollectiveTimeout", "ALLREDUCE", f"import os, sys\nprint({WATCHDOG!r}, file=sys.stderr, "
        "flush=True)\nos.abort()\n"),
    Row("RendezvousTimeout", "RendezvousTimeoutError",
        raises("torch.distributed.elastic.rendezvous.api", "RendezvousTimeoutError", "")),
    # Rank 1 loses its peer after rank 0 left with success.
    Row("EarlyExit", "rank 0 exited with 0 while rank 1 did not",
        "import os\nif os.environ['PET_NODE_RANK'] == '0':\n    raise SystemExit(0)\n" +
        UNTIL_TOLD + f"raise RuntimeError({PEER!r})\n", nodes=2, happens="leave_early"),
    Row("GpuFault", "Xid 79", UNTIL_TOLD + "sys.exit(1)\n", node=FAULTY, happens="break_gpu"),
]
CLUSTER = [
    Row("ConfigurationMissing", 'secret "no-such-secret" not found', happens="hold_too_long",
        pod={"volumes": [{"name": "keys", "secret": {"secretName": "no-such-secret"}}]}),
    Row("Unschedulable", "nodes are available", node="no-such-node", happens="lose_patience"),
    Row("Drained", "EvictionByEvictionAPI", happens="drain"),
    Row("Preempted", "PreemptionByScheduler", happens="preempt"),
    Row("NodeLost", "node no longer exists", node=LOST, happens="lose_node"),
]
KUBELET = [Row(cause, says, node=PLAYED, happens="play_kubelet", status=status)
           for cause, says, status in (
    ("Evicted", "memory", failed("Evicted", "The node was low on resource: memory. Threshold "
                                 "quantity: 100Mi, available: 80Mi.")),
    ("NodeShutdown", "spot machine reclaimed", failed(
        "Terminated", "Pod was terminated in response to imminent node shutdown.")),
    ("DeviceAllocationFailed", "UnexpectedAdmissionError", failed(
        "UnexpectedAdmissionError", "Allocate failed due to requested number of devices "
        "unavailable for nvidia.com/gpu. Requested: 8, Available: 7, which is unexpected")),
    ("ImageNotFound", "llama:1", not_pulled("registry.example/llama:1: not found")),
    ("ImagePullDenied", "llama:1", not_pulled("unexpected status: 403 Forbidden")),
    ("ImagePullFailed", "llama:1", not_pulled("dial tcp 10.0.0.9:443: i/o timeout")))]
ROWS = [*SCRIPTS, *CLUSTER, *KUBELET]


class EveryCause(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = Home()
        cls.addClassCleanup(cls.home.close)
        cls.home.run("local", "up", "--in-memory", "--nodes", "2", "--cpu", "64",
                     "--memory", "64Gi")
        cls.port = int(cls.home.status()["address"].rpartition(":")[2])
        cls.tls = ssl.create_default_context(cafile=cls.home.data / "ca.crt")
        cls.headers = {"Authorization": f"Bearer {cls.home.token()}"}

    # --- the API

    def call(self, method: str, path: str, body=None, kind: str = "application/json") -> dict:
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls,
                                                 timeout=60)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               self.headers | {"Content-Type": kind})
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        self.assertLess(answer.status, 300, f"{method} {path}: {text}")
        return json.loads(text)

    def patch(self, path: str, body: dict) -> None:
        self.call("PATCH", path, body, "application/strategic-merge-patch+json")

    def add_condition(self, path: str, **condition) -> None:
        self.patch(f"{path}/status", {"status": {"conditions": [
            {"status": "True", "lastTransitionTime": stamp(), **condition}]}})

    def pod(self, row: Row, rank: int = 0) -> dict:
        selector = f"amdahl.dev/job={row.name},amdahl.dev/rank={rank}"
        found = self.call("GET", f"{PODS}?labelSelector={selector}")["items"]
        return found[0] if found else {"spec": {}, "status": {}}

    def job_status(self, row: Row) -> dict:
        return self.call("GET", f"{JOBS}/{row.name}").get("status", {})

    def until(self, ready, row: Row, what: str):
        deadline = time.monotonic() + SECONDS
        while not (answer := ready()):
            if time.monotonic() > deadline:
                log = (self.home.data / "log").read_text()[-4000:]
                self.fail(f"{row.cause}: not within {SECONDS} s: {what}\n"
                          f"{json.dumps(self.job_status(row))}\n"
                          f"{json.dumps(self.pod(row)['status'])}\n{log}")
            time.sleep(0.05)
        return answer

    def until_phase(self, row: Row, phase: str) -> None:
        self.until(lambda: self.job_status(row).get("phase") == phase, row, phase)

    # --- what is there at first

    def add_node(self, name: str, **labels: str) -> None:
        room = {"cpu": "64", "memory": "64Gi", "pods": "100"}
        self.call("POST", NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {
            "name": name, "labels": {"kubernetes.io/hostname": name, **labels}}})
        self.patch(f"{NODES}/{name}/status", {"status": {
            "capacity": room, "allocatable": room,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady",
                            "lastTransitionTime": stamp()}]}})
        # The server taints new nodes, as a control plane does until their kubelet is ready.
        self.call("PATCH", f"{NODES}/{name}", {"spec": {"taints": None}}, MERGE)

    def job_of(self, row: Row) -> dict:
        script = self.home.path / f"{row.name}.py"
        script.write_text(row.script)
        container = {"name": "trainer", "image": "none",
                     "command": ["/usr/bin/python3", str(script)],
                     "env": [{"name": "TOLD", "value": str(self.told(row))}],
                     "resources": {"limits": {"cpu": "10m"}}}
        pod = {"terminationGracePeriodSeconds": 1, "containers": [container],
               "nodeSelector": {"kubernetes.io/hostname": row.node}, **row.pod}
        return {"apiVersion": "amdahl.dev/v1alpha1", "kind": "TrainingJob",
                "metadata": {"name": row.name},
                "spec": {"runtime": "Python", "nodes": row.nodes, "template": {"spec": pod},
                         "restart": {"maxFailures": 0, "maxDisruptions": 0, "backoff": "1s"}}}

    def told(self, row: Row) -> Path:
        return self.home.path / f"{row.name}.told"

    # --- what happens

    def break_gpu(self, row: Row) -> None:
        """The device plugin's condition; the script ends after all others were played."""
        self.until_phase(row, "Running")
        self.add_condition(f"{NODES}/{row.node}", type="XidCriticalError", reason='{"79":1}')

    def leave_early(self, row: Row) -> None:
        left = self.until(lambda: self.pod(row)["status"].get("phase") == "Succeeded" and
                          self.pod(row), row, "rank 0 has left")
        end = left["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"]
        # Times of containers are whole seconds: the other end must be in a later one.
        self.until(lambda: stamp() > end, row, "the next second")
        self.told(row).touch()

    def hold_too_long(self, row: Row) -> None:
        """The kubelet's event has come; then time passes."""
        self.until(lambda: self.job_status(row).get("pending", {}).get("reason") ==
                   "WaitingForConfiguration", row, "what the pod waits for")
        self.add_condition(f"{PODS}/{row.name}-1-0", type="PodScheduled",
                           lastTransitionTime=stamp(-600))

    def lose_patience(self, row: Row) -> None:
        """Nothing ends a gang that waits but its own deadline."""
        self.until(lambda: any(one["type"] == "PodScheduled" and one["status"] == "False"
                               for one in self.pod(row)["status"].get("conditions", [])), row,
                   "the scheduler's word")
        self.call("PATCH", f"{JOBS}/{row.name}", {"spec": {"deadlines": {"queue": "1s"}}},
                  MERGE)

    def drain(self, row: Row) -> None:
        self.until_phase(row, "Running")
        name = f"{row.name}-1-0"
        self.call("POST", f"{PODS}/{name}/eviction", {
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}})

    def preempt(self, row: Row) -> None:
        self.until_phase(row, "Running")
        pod = f"{PODS}/{row.name}-1-0"
        self.add_condition(pod, type="DisruptionTarget", reason="PreemptionByScheduler",
                           message="preempting to accommodate a higher priority pod")
        self.call("DELETE", pod)

    def lose_node(self, row: Row) -> None:
        """The embedded cluster deletes pods of a node that is gone when it looks at them."""
        self.until(lambda: self.pod(row)["spec"].get("nodeName"), row, "a node")
        self.call("DELETE", f"{NODES}/{row.node}")
        self.patch(f"{PODS}/{row.name}-1-0", {"metadata": {"labels": {"look": "again"}}})

    def play_kubelet(self, row: Row) -> None:
        self.until(lambda: self.pod(row)["spec"].get("nodeName"), row, "a node")
        self.patch(f"{PODS}/{row.name}-1-0/status", {"status": row.status})

    # promises: B3
    def test_every_cause_is_told(self):
        self.add_node(PLAYED, **{"cloud.google.com/gke-spot": "true"})
        self.add_node(LOST)
        self.home.run("apply", "-f", "-",
                      text="\n---\n".join(json.dumps(self.job_of(row)) for row in ROWS))
        faulty = next(row for row in ROWS if row.happens == "break_gpu")
        for row in sorted(ROWS, key=lambda row: row is not faulty):
            if row.happens:
                with self.subTest(row.cause):
                    getattr(self, row.happens)(row)
        self.told(faulty).touch()
        for row in ROWS:
            with self.subTest(row.cause):
                self.check(row)

    def check(self, row: Row) -> None:
        self.until_phase(row, "Failed")
        attempts = self.job_status(row)["attempts"]
        self.assertEqual(len(attempts), 1)
        cause = attempts[0].get("cause", {})
        self.assertEqual((cause.get("class"), cause.get("role")), (row.cause, "Root"), cause)
        self.assertIn(row.says, cause["message"])


if __name__ == "__main__":
    unittest.main()
