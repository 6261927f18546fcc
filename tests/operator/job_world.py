"""TrainingJobs on a real kube-apiserver; amdahl-operator with the rights of deploy/rbac.yaml."""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "cluster"), str(ROOT / "tests" / "conformance")]

import testbed  # noqa: E402
from kubectl_servers import Kubectl  # noqa: E402

BUILT = ROOT / "build/dev/operator/process/amdahl-operator"
PROGRAM = Path(os.environ.get("AMDAHL_OPERATOR", BUILT))
JOBS = "/apis/amdahl.dev/v1alpha1/namespaces/default/trainingjobs"
PODS = "/api/v1/namespaces/default/pods"
SERVICES = "/api/v1/namespaces/default/services"
GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
WAIT_SECONDS = float(os.environ.get("AMDAHL_WAIT_SECONDS", 60))  # compiling machines are slow
MERGE = "application/merge-patch+json"
MANIFESTS = ("crds/trainingjobs.yaml", "deploy/namespace.yaml", "deploy/rbac.yaml",
             "deploy/policy.yaml")


class Operator:
    """One replica, as the service account that deploy/rbac.yaml makes."""

    def __init__(self, world: "JobWorld", name: str, *flags: str):
        self.log = world.folder / f"{name}.log"
        self._out = self.log.open("w")
        report = [] if "--report-address" in flags else ["--report-address", "127.0.0.1:0"]
        command = [PROGRAM, "--kubeconfig", world.account_kubeconfig(), "--probe-address",
                   "127.0.0.1:0", *report, *flags]
        self.process = subprocess.Popen(command, stdout=self._out, stderr=subprocess.STDOUT,
                                        env={"HOSTNAME": name, "PATH": os.environ["PATH"]})

    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.log.read_text().splitlines()
                if line.startswith("{")]

    def port_of_probes(self) -> int:
        return wait_for(lambda: next((line["port"] for line in self.lines()
                                      if line["message"] == "probes and metrics are served"), None))

    def metrics(self) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.port_of_probes(), timeout=10)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    def stop(self, kill: bool = False) -> int:
        if self.process.poll() is None:
            (self.process.kill if kill else self.process.terminate)()
        try:
            code = self.process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait(timeout=10)
        self._out.close()
        return code


class JobWorld:
    """A server, which somebody else stops, and what the operator needs of it."""

    def __init__(self, cluster: testbed.Cluster, *manifests: str):
        self.cluster = cluster
        self._home = tempfile.TemporaryDirectory(prefix="amdahl-operator-")
        self.folder = Path(self._home.name)
        self.kubectl = Kubectl(cluster.kubeconfig, self.folder / "home")
        for manifest in (*MANIFESTS, *manifests):
            self.apply(ROOT / manifest)
        wait_for(lambda: cluster.request("GET", JOBS)[0] == 200)
        wait_for(lambda: cluster.request("GET", GROUPS)[0] == 200)
        self.operators: list[Operator] = []

    def close(self) -> None:
        for operator in self.operators:
            operator.stop(kill=True)
        self._home.cleanup()

    def apply(self, path: Path) -> None:
        code, out, err = self.kubectl.run("apply", "--server-side", "-f", str(path))
        if code != 0:
            raise RuntimeError(f"apply {path}: {out}{err}")

    def operator(self, name: str, *flags: str) -> Operator:
        self.operators.append(Operator(self, name, *flags))
        return self.operators[-1]

    def account_kubeconfig(self) -> Path:
        """With a token of the account, and nothing else."""
        path = self.folder / "account.kubeconfig"
        if path.exists():
            return path
        account = "/api/v1/namespaces/amdahl-system/serviceaccounts/amdahl-operator/token"
        status, made = self.cluster.request("POST", account, {"spec": {"expirationSeconds": 3600}})
        assert status == 201, made
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u",
                                                   "namespace": "amdahl-system"}}],
            "clusters": [{"name": "c", "cluster": {
                "server": self.cluster.server,
                "certificate-authority": str(self.cluster.certs / "ca.crt")}}],
            "users": [{"name": "u", "user": {"token": made["status"]["token"]}}]}))
        return path

    # --- what users do

    def submit(self, name: str, nodes: int = 2, template: dict | None = None, **spec) -> tuple:
        pod = {"containers": [{"name": "trainer", "image": "none", "command": ["train"]}]}
        pod |= template or {}
        job = {"apiVersion": "amdahl.dev/v1alpha1", "kind": "TrainingJob",
               "metadata": {"name": name},
               "spec": {"runtime": "Torchrun", "nodes": nodes, "template": {"spec": pod},
                        "restart": {"backoff": "1s"}, **spec}}
        return self.cluster.request("POST", JOBS, job)

    def edit(self, name: str, **spec) -> None:
        status, body = self.cluster.request("PATCH", f"{JOBS}/{name}", {"spec": spec},
                                            content_type=MERGE)
        assert status == 200, body

    def job(self, name: str) -> dict:
        return self.cluster.request("GET", f"{JOBS}/{name}")[1]

    def status(self, name: str) -> dict:
        return self.job(name).get("status", {})

    def wait_for_phase(self, name: str, *phases: str) -> dict:
        wait_for(lambda: self.status(name).get("phase") in phases,
                 lambda: f"{name} is {json.dumps(self.status(name))}, not {phases}")
        return self.status(name)

    # --- what there is

    def pods(self, job: str) -> dict[str, dict]:
        listed = self.cluster.request("GET", f"{PODS}?labelSelector=amdahl.dev/job%3D{job}")[1]
        return {pod["metadata"]["name"]: pod for pod in listed["items"]}

    def wait_for_pods(self, job: str, *names: str) -> dict[str, dict]:
        wait_for(lambda: set(self.pods(job)) == set(names),
                 lambda: f"pods of {job}: {sorted(self.pods(job))}, not {names}")
        return self.pods(job)

    def children(self, job: str) -> list[str]:
        return [f"{path.rpartition('/')[2]} {name}" for path, name in self._children(job)]

    def gang_of(self, job: str) -> list[str]:
        """Service and PodGroup: what a job that has ended must not keep."""
        return [child for child in self.children(job) if not child.startswith("pods ")]

    def _children(self, job: str) -> list[tuple[str, str]]:
        return [(path, item["metadata"]["name"]) for path in (PODS, SERVICES, GROUPS)
                for item in self.cluster.request("GET", path)[1]["items"]
                if item["metadata"].get("labels", {}).get("amdahl.dev/job") == job]


def wait_for(ready, describe=lambda: "it did not come", seconds: float = WAIT_SECONDS):
    deadline = time.monotonic() + seconds
    while not (found := ready()):
        if time.monotonic() > deadline:
            raise AssertionError(describe())
        time.sleep(0.05)
    return found
