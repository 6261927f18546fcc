"""A cluster whose pods really run. Only inside of namespaces.run(): it uses fixed ports and paths.

One node. There is no kube-scheduler, Volcano places all pods that ask for it, and no kube-proxy:
pods reach each other and the node by their own addresses and names, as training jobs do.
"""

import contextlib
import http.client
import os
import shutil
import subprocess
import time
from pathlib import Path

import build
import images
import namespaces
import nodes
import testbed
from process import Process

SOCKET = namespaces.STATE / "containerd.sock"
QUEUE = "/apis/scheduling.volcano.sh/v1beta1/queues/default"
CHART = "installer/helm/chart/volcano"
APPLY = "application/apply-patch+yaml"


class FullCluster(testbed.Cluster):
    admission_off = ""  # here a controller manager makes the service accounts

    def __init__(self, name: str):
        super().__init__(name)
        self.parts: dict[str, Process] = {}

    def start(self, volcano: Path) -> None:
        """`volcano`: the files of its module."""
        start = time.monotonic()
        self.up(apiserver_args=(
            "--kubelet-preferred-address-types=InternalIP",
            f"--kubelet-client-certificate={self.certs}/admin-cert.crt",
            f"--kubelet-client-key={self.certs}/admin-cert.key"))
        self.parts |= {"etcd": self.etcd, "kube-apiserver": self.apiserver}
        build.say("API server", start)
        self._start_node()
        self._start_controllers()
        self._start_volcano(volcano)
        self._wait(self.parts["containerd"], "containerd", SOCKET.exists)
        images.pause().load(SOCKET)
        for what, part, ready in (
                ("node", "kubelet", self._node_ready),
                ("service accounts", "kube-controller-manager", self._has_accounts),
                ("names", "coredns", self._names_ready),
                ("Volcano", "vc-scheduler", self._queue_open)):
            self._wait(self.parts[part], part, ready)
            build.say(what, start)

    def environment(self) -> dict[str, str]:
        """For a command that uses the cluster."""
        kubectl = namespaces.STATE / "bin" / "kubectl"
        if not kubectl.exists():
            kubectl.parent.mkdir()
            kubectl.symlink_to(build.program("kubectl"))
        return {**os.environ, "KUBECONFIG": str(self.kubeconfig), "AMDAHL_CLUSTER": self.name,
                "PATH": f"{kubectl.parent}:{os.environ['PATH']}",
                "CONTAINERD_ADDRESS": str(SOCKET), "CONTAINERD_NAMESPACE": "k8s.io"}

    def attend(self, command: list[str]) -> int:
        """Runs the command; meanwhile this process is an init: it reaps, and says what has ended.
        """
        child = subprocess.Popen(command, env=self.environment())
        known = {part.pid: name for name, part in self.parts.items()}
        while True:
            pid, status = os.wait()
            code = os.waitstatus_to_exitcode(status)
            if pid == child.pid:
                child.returncode = code
                return code if code >= 0 else 128 - code
            if pid in known:
                build.say(f"{known[pid]} ended with {code}:\n{self.parts[known[pid]].log_tail()}")

    def copy_logs(self, folder: Path) -> None:
        for log in self.dir.glob("*.log"):
            shutil.copy(log, folder)

    # --- inside

    def _start(self, name: str, command: list) -> None:
        part = Process(self.dir / f"{name}.pid", self.dir / f"{name}.log")
        self.parts[name] = part
        part.start(command)

    def _start_node(self) -> None:
        self._start("containerd", nodes.containerd(self.dir / "containerd", SOCKET, images.PAUSE))
        self._start("kubelet", nodes.kubelet(self.dir / "kubelet", SOCKET, self.certs, self.server,
                                             namespaces.cgroup_of(self.name)))
        self._start("coredns", nodes.coredns(self.dir / "coredns", self.kubeconfig))

    def _start_controllers(self) -> None:
        self._start("kube-controller-manager", [
            build.program("kube-controller-manager"), f"--kubeconfig={self.kubeconfig}",
            "--leader-elect=false", "--allocate-node-cidrs=false",
            f"--service-account-private-key-file={self.certs}/sa.key",
            f"--root-ca-file={self.certs}/ca.crt"])

    def _start_volcano(self, module: Path) -> None:
        # Without the second folder its controllers never begin, and no queue is ever open.
        for folder in (module / CHART, module / CHART / "charts" / "jobflow"):
            for path in sorted((folder / "crd" / "bases").glob("*.yaml")):
                self._apply(path)
        shared = [f"--kubeconfig={self.kubeconfig}", "--leader-elect=false"]
        self._start("vc-scheduler", [
            build.program("vc-scheduler"), *shared, "--cache-dumper=false",
            f"--scheduler-conf={module / CHART}/config/volcano-scheduler.conf"])
        self._start("vc-controller-manager", [build.program("vc-controller-manager"), *shared])

    def _apply(self, crd: Path) -> None:
        group, _, plural = crd.stem.partition("_")
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.{group}"
        status, answer = self.request("PATCH", f"{path}?fieldManager=cluster&force=true",
                                      crd.read_bytes(), content_type=APPLY)
        if status not in (200, 201):
            raise RuntimeError(f"{crd.name}: {answer}")

    def _node_ready(self) -> bool:
        status, node = self.request("GET", f"/api/v1/nodes/{nodes.NODE}")
        return status == 200 and any(
            c["type"] == "Ready" and c["status"] == "True" for c in node["status"]["conditions"])

    def _has_accounts(self) -> bool:
        path = "/api/v1/namespaces/default/"
        wanted = ("serviceaccounts/default", "configmaps/kube-root-ca.crt")
        return all(self.request("GET", path + name)[0] == 200 for name in wanted)

    def _names_ready(self) -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(
                http.client.HTTPConnection("127.0.0.1", 8181, timeout=5)) as connection:
            connection.request("GET", "/ready")
            return connection.getresponse().status == 200
        return False

    def _queue_open(self) -> bool:
        status, queue = self.request("GET", QUEUE)
        return status == 200 and queue.get("status", {}).get("state") == "Open"
