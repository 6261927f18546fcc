"""The kinds that sequences are about, with random bodies: small, so that they collide."""

import dataclasses
import random
from collections.abc import Callable

GROUP = "conformance.example.com"


@dataclasses.dataclass(frozen=True)
class Kind:
    plural: str
    kind: str
    body: Callable[[random.Random], dict]  # without apiVersion, kind and metadata
    group: str = ""
    version: str = "v1"
    namespaced: bool = True
    status: Callable[[random.Random], dict] | None = None
    scale: bool = False
    custom: bool = False
    fields: tuple[str, ...] = ()  # field selectors worth trying
    changes: bool = True  # False: no updates and patches; docs/reference/conformance.md says why
    weight: int = 4

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def root(self) -> str:
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    @property
    def collection(self) -> str:
        inside = "/namespaces/${ns}" if self.namespaced else ""
        return f"{self.root}{inside}/{self.plural}"


def maybe(rng: random.Random, chance: float, value: dict) -> dict:
    return value if rng.random() < chance else {}


def config_map(rng):
    body = {"data": {key: rng.choice(["1", "two", ""]) for key in rng.sample(["a", "b", "c.d"], 2)}}
    body |= maybe(rng, 0.2, {"binaryData": {"raw": "AAEC"}})
    body |= maybe(rng, 0.1, {"immutable": rng.choice([True, False])})
    return body


def secret(rng):
    body = maybe(rng, 0.7, {"data": {"k": rng.choice(["djE=", "djI="])}})
    body |= maybe(rng, 0.4, {"stringData": {rng.choice("kl"): rng.choice(["plain", "text"])}})
    body |= maybe(rng, 0.5, {"type": rng.choice(["Opaque", "kubernetes.io/basic-auth",
                                                 "example.com/own", "kubernetes.io/tls"])})
    return body


PORTS = {"c": 80, "d": 8080, "init": 90}  # one twice would be worth a warning


def container(rng, name):
    body = {"name": name, "image": rng.choice(["busybox:1", "busybox", "busybox:latest"])}
    body |= maybe(rng, 0.3, {"command": ["sh", "-c", "true"]})
    body |= maybe(rng, 0.4, {"env": [{"name": "A", "value": rng.choice("123")}, {"name": "B"}]})
    body |= maybe(rng, 0.3, {"ports": [{"containerPort": PORTS[name], "name": name}]})
    body |= maybe(rng, 0.3, {"resources": {
        "requests": {"cpu": rng.choice(["100m", "0.5", "1"]), "memory": "64Mi"},
        "limits": {"cpu": rng.choice(["1", "2000m"]), "memory": rng.choice(["64Mi", "1Gi"])}}})
    body |= maybe(rng, 0.1, {"livenessProbe": {"tcpSocket": {"port": 80}}})
    return body


def pod_spec(rng):
    names = rng.choice([["c"], ["c"], ["c", "d"]])
    spec = {"containers": [container(rng, name) for name in names]}
    spec |= maybe(rng, 0.4, {"restartPolicy": rng.choice(["Never", "OnFailure", "Always"])})
    spec |= maybe(rng, 0.2, {"nodeName": rng.choice(["n1", "n2"])})
    spec |= maybe(rng, 0.2, {"nodeSelector": {"disk": "ssd"}})
    spec |= maybe(rng, 0.2, {"terminationGracePeriodSeconds": rng.choice([0, 5, 30])})
    spec |= maybe(rng, 0.2, {"tolerations": [{"key": "k", "operator": "Exists"}]})
    spec |= maybe(rng, 0.15, {"volumes": [{"name": "v", "emptyDir": {}}]})
    spec |= maybe(rng, 0.1, {"initContainers": [container(rng, "init")]})
    spec |= maybe(rng, 0.1, {"activeDeadlineSeconds": rng.choice([10, 20])})
    return spec


def pod(rng):
    return {"spec": pod_spec(rng)}


def pod_status(rng):
    body = {"phase": rng.choice(["Pending", "Running", "Succeeded", "Failed"])}
    body |= maybe(rng, 0.4, {"conditions": [
        {"type": "Ready", "status": rng.choice(["True", "False"]),
         "lastTransitionTime": "2020-01-01T00:00:00Z"}]})
    body |= maybe(rng, 0.3, {"message": "note", "reason": "Because"})
    body |= maybe(rng, 0.2, {"podIP": "10.0.0.9", "podIPs": [{"ip": "10.0.0.9"}]})
    return body


def service(rng):
    spec = {"ports": [{"port": rng.choice([80, 81])}]}
    if rng.random() < 0.3:
        spec["ports"] = [{"port": 80, "name": "a"},
                         {"port": 443, "name": "b", "targetPort": rng.choice([8443, "tls"])}]
    spec |= {"selector": {"app": rng.choice("ab")}, "clusterIP": "None"}
    spec |= maybe(rng, 0.2, {"type": "ClusterIP"})
    return {"spec": spec}


def service_account(rng):
    body = maybe(rng, 0.3, {"automountServiceAccountToken": False})
    return body | maybe(rng, 0.2, {"imagePullSecrets": [{"name": "pull"}]})


def core_event(rng):
    body = {"involvedObject": {"kind": "Pod", "namespace": "${ns}", "name": rng.choice("ab")},
            "reason": rng.choice(["Started", "Killed"]), "type": rng.choice(["Normal", "Warning"]),
            "message": "something happened", "source": {"component": "tester"}}
    return body | maybe(rng, 0.5, {"count": rng.choice([1, 3]),
                                   "firstTimestamp": "2020-01-01T00:00:00Z",
                                   "lastTimestamp": "2020-01-02T00:00:00Z"})


def new_event(rng):
    return {"regarding": {"kind": "Pod", "namespace": "${ns}", "name": rng.choice("ab")},
            "reason": "Started", "type": rng.choice(["Normal", "Warning"]), "note": "a note",
            "eventTime": "2020-01-01T00:00:00.000000Z", "action": "Do",
            "reportingController": "example.com/tester", "reportingInstance": "tester-1"}


def node(rng):
    spec = maybe(rng, 0.3, {"unschedulable": True})
    spec |= maybe(rng, 0.3, {"taints": [{"key": "gpu", "effect": "NoSchedule"}]})
    return {"spec": spec} | maybe(rng, 0.5, {"status": node_status(rng)})


def node_status(rng):
    return {"capacity": {"cpu": rng.choice(["4", "8000m"]), "memory": "16Gi"},
            "conditions": [{"type": "Ready", "status": rng.choice(["True", "False"]),
                            "lastHeartbeatTime": "2020-01-01T00:00:00Z"}]}


def claim(rng):
    spec = {"accessModes": rng.choice([["ReadWriteOnce"], ["ReadWriteMany"]]),
            "resources": {"requests": {"storage": rng.choice(["1Gi", "2Gi"])}}}
    return {"spec": spec | maybe(rng, 0.3, {"storageClassName": "fast"})}


def endpoints(rng):
    return {"subsets": [{"addresses": [{"ip": rng.choice(["10.1.0.1", "10.1.0.2"])}],
                         "ports": [{"port": 80, "name": "web"}]}]}


def template(rng, labels, policy=None):
    spec = pod_spec(rng)
    for name in ("nodeName", "restartPolicy", "activeDeadlineSeconds"):
        spec.pop(name, None)
    return {"metadata": {"labels": labels}, "spec": spec | ({"restartPolicy": policy} if policy
                                                           else {})}


def deployment(rng):
    labels = {"app": rng.choice("aab")}
    spec = {"selector": {"matchLabels": labels}, "template": template(rng, labels)}
    spec |= maybe(rng, 0.6, {"replicas": rng.choice([0, 1, 3])})
    spec |= maybe(rng, 0.2, {"strategy": {"type": "Recreate"}})
    return {"spec": spec}


def replicated_status(rng):
    return {"replicas": rng.choice([1, 2]), "observedGeneration": rng.choice([1, 2])}


def job(rng):
    spec = {"template": template(rng, {"own": "x"}, rng.choice(["Never", "OnFailure"]))}
    spec |= maybe(rng, 0.4, {"completions": rng.choice([1, 2]), "parallelism": rng.choice([1, 2])})
    spec |= maybe(rng, 0.3, {"backoffLimit": rng.choice([0, 4])})
    return {"spec": spec | maybe(rng, 0.2, {"suspend": True})}


def job_status(rng):
    ends = [[], [], ["SuccessCriteriaMet"], ["SuccessCriteriaMet", "Complete"], ["Complete"],
            ["FailureTarget"], ["FailureTarget", "Failed"], ["Failed", "Complete"]]
    types = rng.choice(ends)
    body = {"active": rng.choice([0, 1, 2]) if not types else rng.choice([0, 0, 1])}
    body |= maybe(rng, 0.8, {"startTime": rng.choice(["2020-01-01T00:00:00Z"] * 4 +
                                                     ["2020-01-01T00:00:09Z"])})
    body |= maybe(rng, 0.3, {"ready": rng.choice([0, 1])})
    body |= maybe(rng, 0.4, {rng.choice(["succeeded", "failed"]): rng.choice([0, 1, 2])})
    body |= maybe(rng, 0.8 if "Complete" in types else 0.1,
                  {"completionTime": "2020-01-01T00:00:05Z"})
    return body | ({"conditions": [{"type": one, "status": "True"} for one in types]} if types
                   else {})


def lease(rng):
    return {"spec": {"holderIdentity": rng.choice("xy"), "leaseDurationSeconds": 15,
                     "renewTime": rng.choice(["2020-01-01T00:00:00.000000Z",
                                              "2020-01-01T00:00:05.123456Z"])}}


def priority_class(rng):
    body = {"value": rng.choice([10, 20])}
    body |= maybe(rng, 0.4, {"description": rng.choice(["low", "high"])})
    return body | maybe(rng, 0.2, {"preemptionPolicy": "Never"})


def role(rng):
    return {"rules": [{"apiGroups": [""], "resources": ["pods"],
                       "verbs": rng.choice([["get"], ["get", "list"]])}]}


def binding(rng):
    return {"subjects": [{"kind": "User", "name": rng.choice("uv"),
                          "apiGroup": "rbac.authorization.k8s.io"}],
            "roleRef": {"kind": "ClusterRole", "name": rng.choice(["view", "edit", "view"]),
                        "apiGroup": "rbac.authorization.k8s.io"}}


def widget(rng):
    spec = {"size": rng.choice([1, 2, 3, 5])}
    spec |= maybe(rng, 0.4, {"color": rng.choice(["red", "blue"])})
    spec |= maybe(rng, 0.4, {"parts": [{"name": rng.choice("xy"), "count": rng.choice([1, 2])},
                                       {"name": "z"}]})
    spec |= maybe(rng, 0.3, {"replicas": rng.choice([0, 2])})
    spec |= maybe(rng, 0.2, {"tags": rng.sample(["t1", "t2", "t3"], 2)})
    spec |= maybe(rng, 0.2, {"locked": rng.choice([True, False])})
    spec |= maybe(rng, 0.2, {"limit": rng.choice([10, "25%"])})
    spec |= maybe(rng, 0.1, {"unknownField": {"deep": 1}})
    return {"spec": spec}


def widget_status(rng):
    return {"replicas": rng.choice([1, 2]), "selector": "app=a",
            "state": rng.choice(["Good", "Bad"])}


def gadget(rng):
    return {"settings": {"any": rng.choice([1, "two", None, [1, {"x": True}], 1.5])},
            "note": rng.choice(["a", "b"])}


RBAC = "rbac.authorization.k8s.io"
KINDS = {f"{kind.plural}.{kind.group}": kind for kind in (
    Kind("configmaps", "ConfigMap", config_map, weight=12),
    Kind("secrets", "Secret", secret, fields=("type=Opaque",), weight=5),
    Kind("pods", "Pod", pod, status=pod_status, weight=14,
         fields=("status.phase=Pending", "spec.nodeName=n1", "spec.nodeName!=n1",
                 "spec.restartPolicy=Never")),
    Kind("services", "Service", service, fields=("spec.type=ClusterIP",), weight=5),
    Kind("serviceaccounts", "ServiceAccount", service_account, weight=3),
    Kind("events", "Event", core_event, fields=("reason=Started", "involvedObject.name=a")),
    Kind("events", "Event", new_event, group="events.k8s.io", weight=2,
         fields=("regarding.name=a",)),
    Kind("nodes", "Node", node, namespaced=False, status=node_status, weight=3),
    Kind("persistentvolumeclaims", "PersistentVolumeClaim", claim, changes=False, weight=2),
    Kind("endpoints", "Endpoints", endpoints, weight=2),
    Kind("deployments", "Deployment", deployment, group="apps", status=replicated_status,
         scale=True, weight=6),
    Kind("jobs", "Job", job, group="batch", status=job_status, weight=4),
    Kind("leases", "Lease", lease, group="coordination.k8s.io"),
    Kind("priorityclasses", "PriorityClass", priority_class, group="scheduling.k8s.io",
         namespaced=False, weight=2),
    Kind("roles", "Role", role, group=RBAC, weight=2),
    Kind("rolebindings", "RoleBinding", binding, group=RBAC, weight=2),
    Kind("clusterroles", "ClusterRole", role, group=RBAC, namespaced=False, weight=1),
    Kind("clusterrolebindings", "ClusterRoleBinding", binding, group=RBAC, namespaced=False,
         weight=1),
    Kind("widgets", "Widget", widget, group=GROUP, status=widget_status, scale=True, custom=True,
         weight=10),
    Kind("gadgets", "Gadget", gadget, group=GROUP, custom=True, weight=3),
)}
