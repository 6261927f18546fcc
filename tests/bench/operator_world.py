"""One real API server for all contestants: its kinds, its load, and what is seen of it.

What exists is counted in etcd, by keys and without values: that loads neither the API server nor
the machine (0.2 ms a look), and is the same for all, however often a controller writes.
"""

import base64
import concurrent.futures
import contextlib
import http.client
import json
import re
import sys
import threading
import time
from pathlib import Path

import machine
from client_process import MeasurementError
from operator_contestants import Call

sys.path.insert(0, str(machine.ROOT / "tests" / "cluster"))

import build  # noqa: E402
import testbed  # noqa: E402

CLIENTS = 8  # connections of the load generator
LOOK_EVERY_SECONDS = 0.02
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
GROUPS = "/apis/scheduling.volcano.sh/v1beta1"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
SERVED_SECONDS_MAX = 60
WRITES = {"POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"}
# Told apart everywhere: what reports to people, what others derive, what says who leads.
NOT_COUNTED = {"events", "endpoints", "endpointslices", "leases"}
NAMESPACES = "bench-"  # all begin so
# What jobs leave behind: where etcd has it, and where the API server lists it.
LEFT_BEHIND = {
    "pods": "/api/v1/pods", "services/specs": "/api/v1/services",
    "configmaps": "/api/v1/configmaps", "jobs": "/apis/batch/v1/jobs",
    "events": "/apis/events.k8s.io/v1/events",
    "amdahl.dev/trainingjobs": "/apis/amdahl.dev/v1alpha1/trainingjobs",
    "kubeflow.org/pytorchjobs": "/apis/kubeflow.org/v1/pytorchjobs",
    "batch.volcano.sh/jobs": "/apis/batch.volcano.sh/v1alpha1/jobs",
    "bus.volcano.sh/commands": "/apis/bus.volcano.sh/v1alpha1/commands",
    "scheduling.volcano.sh/podgroups": "/apis/scheduling.volcano.sh/v1beta1/podgroups"}
OURS = ("crds/trainingjobs.yaml", "deploy/policy.yaml")
VOLCANO_SUBSET = "local/scheduler/volcano_crds.yaml"
VOLCANO_CRDS = "installer/helm/chart/volcano/crd/bases"
VOLCANO_FILES = ("batch.volcano.sh_jobs", "bus.volcano.sh_commands",
                 "scheduling.volcano.sh_podgroups", "scheduling.volcano.sh_queues")
KUBEFLOW_CRD = "manifests/base/crds/kubeflow.org_pytorchjobs.yaml"


class World:
    """With `families`, the peers whose kinds are served beside ours."""

    def __init__(self, cluster: testbed.Cluster, families: set[str]):
        self.cluster, self._families = cluster, families
        self._token = cluster.token()
        self._pool = concurrent.futures.ThreadPoolExecutor(CLIENTS)
        self._etcd = threading.local()
        self.own_writes, self._counting = 0, threading.Lock()

    def prepare(self) -> None:
        for path in OURS:
            self._apply_file(machine.ROOT / path)
        if "volcano" in self._families:
            folder = build.module_folder("volcano") / VOLCANO_CRDS
            for name in VOLCANO_FILES:
                self._apply_file(folder / f"{name}.yaml")
        else:
            self._apply_file(machine.ROOT / VOLCANO_SUBSET)
        if "kubeflow" in self._families:
            self._apply_file(build.module_folder("training-operator") / KUBEFLOW_CRD)
        self.namespace("amdahl-system")
        self._open_queue()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def pids(self) -> list[int]:
        return [self.cluster.etcd.pid, self.cluster.apiserver.pid]

    # --- requests

    def send(self, call: Call, allow: tuple[int, ...] = ()) -> dict:
        status, answer = self.cluster.request(call.method, call.path, call.body, self._token,
                                              call.content_type)
        with self._counting:
            self.own_writes += 1
        if status > 299 and status not in allow:
            raise MeasurementError(f"{call.method} {call.path}: {status} {answer}")
        return answer

    def send_all(self, calls: list[Call]) -> None:
        """As fast as CLIENTS connections can; each sends the next when it has its answer."""
        for _ in self._pool.map(self.send, calls):
            pass

    def namespace(self, name: str) -> None:
        body = json.dumps({"metadata": {"name": name}})
        self.send(Call("POST", "/api/v1/namespaces", body), allow=(409,))

    def get(self, path: str) -> dict | str:
        status, answer = self.cluster.request("GET", path, token=self._token)
        if status != 200:
            raise MeasurementError(f"GET {path}: {status} {answer}")
        return answer

    # --- what is there

    def count_pods(self, namespace: str) -> int:
        answer = self._etcd_call("range", f"/registry/pods/{namespace}/", count_only=True)
        return int(answer.get("count", 0))

    def revision(self) -> int:
        answer = self._etcd_call("range", "/registry/none/", count_only=True)
        return int(answer["header"]["revision"])

    def wait_for_pods(self, namespace: str, count: int, seconds: float,
                      alive=lambda: None) -> float:
        """Returns when there are exactly so many, and the time it was seen (monotonic). `alive`
        throws when nobody is left who would make them."""
        deadline = time.monotonic() + seconds
        while (found := self.count_pods(namespace)) != count:
            alive()
            if time.monotonic() > deadline:
                raise MeasurementError(f"{found} pods instead of {count} after {seconds:.0f} s")
            time.sleep(LOOK_EVERY_SECONDS)
        return time.monotonic()

    def writes(self) -> int:
        """Requests that change something, by all clients but this one, since the server began."""
        total = 0
        for line in self.get("/metrics").splitlines():
            if not line.startswith("apiserver_request_total{"):
                continue
            labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
            if labels["verb"] in WRITES and labels["resource"] not in NOT_COUNTED:
                total += int(float(line.rpartition(" ")[2]))
        with self._counting:
            return total - self.own_writes

    def clear(self) -> None:
        """Removes what jobs left behind, while nobody runs who would see to it.

        Objects that go in one write of etcd have one version, which the API server never does: who
        lists while it learns of them would miss some. So it is done when the server shows none.
        """
        for kind in LEFT_BEHIND:
            self._etcd_call("deleterange", f"/registry/{kind}/{NAMESPACES}")
        deadline = time.monotonic() + SERVED_SECONDS_MAX
        while left := [path for path in LEFT_BEHIND.values() if self._shows_leftovers(path)]:
            if time.monotonic() > deadline:
                raise MeasurementError(f"still there after {SERVED_SECONDS_MAX} s: {left}")
            time.sleep(0.1)

    def _shows_leftovers(self, path: str) -> bool:
        status, found = self.cluster.request("GET", path + "?resourceVersion=0", token=self._token)
        return status == 200 and any(
            one["metadata"].get("namespace", "").startswith(NAMESPACES) for one in found["items"])

    # --- inside

    def _etcd_call(self, method: str, prefix: str, **more) -> dict:
        if not hasattr(self._etcd, "connection"):
            port = json.loads((self.cluster.dir / "state.json").read_text())["ports"]["etcd"]
            self._etcd.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        key, range_end = (base64.b64encode(one.encode()).decode() for one in (prefix, end))
        body = json.dumps({"key": key, "range_end": range_end, **more})
        self._etcd.connection.request("POST", f"/v3/kv/{method}", body)
        response = self._etcd.connection.getresponse()
        answer = json.loads(response.read())
        if response.status != 200:
            raise MeasurementError(f"etcd refused {method} {prefix}: {answer}")
        return answer

    def _apply_file(self, path: Path) -> None:
        for document in path.read_text().split("\n---\n"):
            kind = re.search(r"^kind: (\S+)", document, re.MULTILINE)
            if kind is None:
                continue
            name = re.search(r"^  name: (\S+)", document, re.MULTILINE)[1]
            self.send(Call("PATCH", f"{PATHS[kind[1]]}/{name}?fieldManager=bench&force=true",
                           document, APPLY))
            if kind[1] == "CustomResourceDefinition":
                self._wait_until_served(name)

    def _wait_until_served(self, name: str) -> None:
        deadline = time.monotonic() + SERVED_SECONDS_MAX
        while True:
            found = self.get(f"{CRDS}/{name}").get("status", {}).get("conditions")
            states = {one["type"]: one["status"] for one in found or ()}
            if states.get("Established") == "True":
                return
            if time.monotonic() > deadline:
                raise MeasurementError(f"{name} is not served after {SERVED_SECONDS_MAX} s")
            time.sleep(0.1)

    def _open_queue(self) -> None:
        queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
                 "metadata": {"name": "default"}, "spec": {"weight": 1, "reclaimable": True}}
        deadline = time.monotonic() + SERVED_SECONDS_MAX
        # A kind is established a moment before its path is served.
        while self.cluster.request("POST", QUEUES, queue)[0] not in (201, 409):
            if time.monotonic() > deadline:
                raise MeasurementError("the queue of Volcano cannot be made")
            time.sleep(0.1)
        state = json.dumps({"status": {"state": "Open", "allocated": {}}})
        self.send(Call("PATCH", f"{QUEUES}/default/status", state, MERGE))


PATHS = {
    "CustomResourceDefinition": CRDS,
    "ValidatingAdmissionPolicy":
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding":
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
}


class GangsLetIn:
    """Plays the part of Volcano's scheduler that its Job controller waits for: every new group is
    let into its queue at once. Nothing is placed anywhere."""

    def __init__(self, world: World):
        self._world, self._stopped = world, threading.Event()
        self._pool = concurrent.futures.ThreadPoolExecutor(CLIENTS)
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "GangsLetIn":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._stopped.set()
        self._pool.shutdown(cancel_futures=True)

    def _watch(self) -> None:
        while not self._stopped.is_set():
            # The server ends a watch after its time; a broken one is begun again.
            with contextlib.suppress(OSError, http.client.HTTPException, RuntimeError):
                for event in self._world.cluster.watch(f"{GROUPS}/podgroups", seconds=300):
                    if self._stopped.is_set():
                        return
                    if event["type"] in ("ADDED", "MODIFIED"):
                        self._look_at(event["object"])

    def _look_at(self, group: dict) -> None:
        meta = group["metadata"]
        waits = group.get("status", {}).get("phase") in (None, "", "Pending")
        if not waits or "deletionTimestamp" in meta:
            return
        path = f"{GROUPS}/namespaces/{meta['namespace']}/podgroups/{meta['name']}"
        call = Call("PATCH", path, '{"status": {"phase": "Inqueue"}}', MERGE)
        self._pool.submit(self._world.send, call, (404, 409))
