"""The embedded API server and amdahl-operator as processes, and pods that report to it.

Jobs, pods and tokens are real objects of that server; the test plays scheduler, kubelet and
amdahl-launch. Nothing needs root.
"""

import http.client
import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "embedded"))

from embedded import EmbeddedServer  # noqa: E402

BUILT = ROOT / "build/dev/operator/process/amdahl-operator"
PROGRAM = Path(os.environ.get("AMDAHL_OPERATOR", BUILT))
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = "application/merge-patch+json"
AUDIENCE = "amdahl.dev/report"
WAIT_SECONDS = float(os.environ.get("AMDAHL_WAIT_SECONDS", 60))  # compiling machines are slow


def wait_for(ready, describe=lambda: "it did not come", seconds: float = WAIT_SECONDS):
    deadline = time.monotonic() + seconds
    while not (found := ready()):
        if time.monotonic() > deadline:
            raise AssertionError(describe())
        time.sleep(0.05)
    return found


def jobs_of(namespace: str) -> str:
    return f"/apis/amdahl.dev/v1alpha1/namespaces/{namespace}/trainingjobs"


def pods_of(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


class Operator:
    """One replica of amdahl-operator."""

    def __init__(self, kubeconfig: Path, log: Path, *flags: str, name: str, descriptors: int):
        self.log, self._out = log, log.open("w")

        def limit() -> None:  # the soft one low, as many systems have it
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(descriptors, 256), descriptors))
        given = [flag for flag in flags if flag.startswith("--report-address")]
        report = [] if given else ["--report-address=127.0.0.1:0"]
        if not any(flag.startswith("--probe-address") for flag in flags):
            report.append("--probe-address=127.0.0.1:0")
        self.process = subprocess.Popen(
            [PROGRAM, "--kubeconfig", kubeconfig, *report, *flags],
            stdout=self._out, stderr=subprocess.STDOUT, preexec_fn=limit if descriptors else None,
            env={"HOSTNAME": name, "PATH": os.environ["PATH"]})

    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.log.read_text().splitlines()
                if line.startswith("{") and line.endswith("}")]

    def _line(self, message: str) -> dict | None:
        if self.process.poll() is not None:
            raise AssertionError(f"the operator ended:\n{self.log.read_text()[-3000:]}")
        return next((line for line in self.lines() if line["message"] == message), None)

    def report_port(self) -> int:
        line = wait_for(lambda: self._line("reports are taken"), self.log.read_text)
        return int(line["url"].rpartition(":")[2])

    def probe_port(self) -> int:
        line = wait_for(lambda: self._line("probes and metrics are served"), self.log.read_text)
        return line["port"]

    def probe(self, path: str, token: str = "") -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.probe_port(), timeout=30)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text

    def metric(self, name: str) -> float:
        """The sum over the labels, or the value of one line when `name` has labels."""
        lines = [line for line in self.probe("/metrics")[1].splitlines()
                 if re.match(re.escape(name) + r"[{ ]", line)]
        return sum(float(line.rpartition(" ")[2]) for line in lines)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(timeout=10)
        self._out.close()


class ReportWorld:
    def __init__(self):
        self.server = EmbeddedServer().up()
        self.operators: list[Operator] = []
        for path in ("crds/trainingjobs.yaml", "local/scheduler/volcano_crds.yaml"):
            self._apply_crds((ROOT / path).read_text())

    def close(self) -> None:
        for operator in self.operators:
            operator.stop()
        self.server.down()

    def operator(self, *flags: str, name: str = "operator", descriptors: int = 0,
                 server_port: int = 0) -> Operator:
        """`server_port`: of a proxy before the API server."""
        log = self.server.certs / f"{name}-{len(self.operators)}.log"
        kubeconfig = self._kubeconfig(server_port) if server_port else self.server.kubeconfig
        self.operators.append(Operator(kubeconfig, log, *flags, name=name,
                                       descriptors=descriptors))
        return self.operators[-1]

    def _kubeconfig(self, server_port: int) -> Path:
        path = self.server.certs / f"kubeconfig-{server_port}"
        text = self.server.kubeconfig.read_text()
        assert f":{self.server.port}" in text, "the kubeconfig does not name the server's port"
        path.write_text(text.replace(f":{self.server.port}", f":{server_port}"))
        path.chmod(0o600)
        return path

    def _apply_crds(self, text: str) -> None:
        for document in text.split("\n---\n"):
            if "kind: CustomResourceDefinition" not in document:
                continue
            name = re.search(r"^  name: (\S+)", document, re.MULTILINE)[1]
            self.ask("PATCH", f"{CRDS}/{name}?fieldManager=test", document,
                     content_type="application/apply-patch+yaml")

    def ask(self, method: str, path: str, body=None, **more) -> dict:
        status, answer = self.server.request(method, path, body, **more)
        assert status in (200, 201), f"{method} {path}: {status} {answer}"
        return answer

    # --- users

    def make_namespace(self, name: str) -> None:
        for path, body in (("/api/v1/namespaces", {"metadata": {"name": name}}),
                           (f"/api/v1/namespaces/{name}/serviceaccounts",
                            {"metadata": {"name": "default"}})):
            status, answer = self.server.request("POST", path, body)
            assert status in (201, 409), answer

    def submit(self, namespace: str, name: str, nodes: int = 1, **spec) -> dict:
        container = {"name": "trainer", "image": "none", "command": ["train"]}
        return self.ask("POST", jobs_of(namespace), {
            "apiVersion": "amdahl.dev/v1alpha1", "kind": "TrainingJob",
            "metadata": {"name": name},
            "spec": {"runtime": "Torchrun", "nodes": nodes,
                     "template": {"spec": {"containers": [container]}}, **spec}})

    def job(self, namespace: str, name: str) -> dict:
        return self.ask("GET", f"{jobs_of(namespace)}/{name}")

    def status(self, namespace: str, name: str) -> dict:
        return self.job(namespace, name).get("status", {})

    def edit(self, namespace: str, name: str, **spec) -> None:
        self.ask("PATCH", f"{jobs_of(namespace)}/{name}", {"spec": spec}, content_type=MERGE)

    # --- kubelets

    def pod(self, namespace: str, name: str) -> dict | None:
        status, pod = self.server.request("GET", f"{pods_of(namespace)}/{name}")
        return pod if status == 200 else None

    def start_pod(self, namespace: str, name: str) -> "Pod":
        """Waits until it exists, then binds and runs it."""
        wait_for(lambda: self.pod(namespace, name), lambda: f"pod {name} was not made")
        self.ask("POST", f"{pods_of(namespace)}/{name}/binding", {
            "metadata": {"name": name}, "target": {"kind": "Node", "name": "n"}})
        self.ask("PATCH", f"{pods_of(namespace)}/{name}/status", {"status": {
            "phase": "Running", "startTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "conditions": [{"type": "Ready", "status": "True"}]}}, content_type=MERGE)
        return self.pod_with_token(namespace, name)

    def end_pod(self, namespace: str, name: str) -> None:
        """What a kubelet does when a pod is to go: it ends the processes and says so."""
        path = f"{pods_of(namespace)}/{name}"
        self.server.request("PATCH", f"{path}/status", {"status": {"phase": "Failed"}},
                            content_type=MERGE)
        self.server.request("DELETE", path, {"gracePeriodSeconds": 0})

    def pod_with_token(self, namespace: str, name: str, audience: str = AUDIENCE) -> "Pod":
        uid = self.pod(namespace, name)["metadata"]["uid"]
        made = self.ask("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/default/token", {
            "spec": {"audiences": [audience], "expirationSeconds": 3600,
                     "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": name,
                                        "uid": uid}}})
        return Pod(namespace, name, uid, made["status"]["token"])

    def forge_pod(self, namespace: str, name: str, victim: dict, attempt: int, rank: int) -> "Pod":
        """A pod that claims to belong to somebody else's job: labels, owner, and its own token."""
        meta = victim["metadata"]
        container = {"name": "trainer", "image": "none", "command": ["train"]}
        self.ask("POST", pods_of(namespace), {
            # The finalizer keeps the pod when the operator deletes it.
            "metadata": {"name": name, "finalizers": ["example.com/stay"],
                         "labels": {"amdahl.dev/job": meta["name"],
                                    "amdahl.dev/attempt": str(attempt),
                                    "amdahl.dev/rank": str(rank), "amdahl.dev/gpus": "1000"},
                         "ownerReferences": [{"apiVersion": "amdahl.dev/v1alpha1",
                                              "kind": "TrainingJob", "name": meta["name"],
                                              "uid": meta["uid"], "controller": True}]},
            "spec": {"containers": [container], "nodeName": "n"}})
        return self.pod_with_token(namespace, name)


class Pod:
    """What amdahl-launch does in a pod: reports, over a connection that is kept."""

    def __init__(self, namespace: str, name: str, uid: str, token: str):
        self.namespace, self.name, self.uid, self.token = namespace, name, uid, token
        self.sequence = 0

    def body(self, job: str, attempt: int, rank: int, **more) -> str:
        self.sequence += 1
        return json.dumps({"job": job, "attempt": attempt, "rank": rank, "phase": "Train",
                           "sequence": self.sequence, **more})

    def report(self, port: int, job: str, attempt: int = 1, rank: int = 0, **more) -> tuple:
        """The status and the answer: JSON when it was taken, words when not."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("POST", "/v1/report", self.body(job, attempt, rank, **more), {
            "Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, json.loads(text) if response.status == 200 else text
