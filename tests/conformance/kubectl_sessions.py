"""What kubectl is made to do, on both servers: a session is a list of steps in its own namespace.

A step's output must be the same on both servers once names of servers, times, versions and UIDs
are out of it, and it must have `has` in it: a command that fails on both in the same way is no
success.
"""

import dataclasses

import kubectl_objects as objects


@dataclasses.dataclass(frozen=True)
class Step:
    line: str  # the words of a command; {ns} is the session's namespace
    has: str = ""  # in the output
    stdin: str = ""
    code: int = 0
    editor: str = ""  # KUBE_EDITOR


def step(line: str, has: str = "", **kwargs) -> Step:
    return Step(line, has, **kwargs)


APPLY = [
    step("apply -f - --validate=strict", 'unknown field "bogus"', code=1,
         stdin=objects.CONFIG_MAP + "bogus: 1\n"),
    step("apply -f -", "configmap/settings created", stdin=objects.CONFIG_MAP),
    step("apply -f -", "configmap/settings unchanged", stdin=objects.CONFIG_MAP),
    step("diff -f -", "+ colour: green", stdin=objects.CONFIG_MAP_CHANGED, code=1),
    step("apply -f -", "configmap/settings configured", stdin=objects.CONFIG_MAP_CHANGED),
    step("diff -f -", stdin=objects.CONFIG_MAP_CHANGED),
    step("apply view-last-applied cm settings", "colour: green"),
    step("get cm settings -o jsonpath={.data.colour}", "green"),
    step("apply --dry-run=server -f -", "(server dry run)", stdin=objects.CONFIG_MAP),
    step("apply -f -", 'no matches for kind "Sheep"', code=1,
         stdin=objects.CONFIG_MAP.replace("ConfigMap", "Sheep")),
    step("apply -f -", "Invalid value", code=1,
         stdin=objects.CONFIG_MAP.replace("settings", "Not_A_Name")),
    step("delete -f -", 'configmap "settings" deleted', stdin=objects.CONFIG_MAP),
    step("delete cm settings", "NotFound", code=1),
    step("delete cm settings --ignore-not-found"),
]

SERVER_SIDE = [
    step("apply --server-side --field-manager=one -f -", "configmap/settings serverside-applied",
         stdin=objects.CONFIG_MAP),
    step("apply --server-side --field-manager=two -f -", 'conflict with "one": .data.colour',
         stdin=objects.CONFIG_MAP_CHANGED, code=1),
    step("apply --server-side --field-manager=two --force-conflicts -f -", "serverside-applied",
         stdin=objects.CONFIG_MAP_CHANGED),
    step("diff --server-side --field-manager=one --force-conflicts -f -", "+ colour: red",
         stdin=objects.CONFIG_MAP, code=1),
    step("get cm settings -o yaml --show-managed-fields", "manager: two"),
    step("apply -f -", "configured", stdin=objects.CONFIG_MAP),
]

GET = [
    step("apply -f -", "pod/web-0 created", stdin=objects.POD),
    step("patch pod web-0 --subresource=status -p " + objects.POD_STATUS.replace("\n", ""),
         "pod/web-0 patched"),
    step("get pods", "web-0 1/2 Running 2"),
    step("get pods -o wide", "10.0.0.7 n1"),
    step("get po web-0 -o yaml", "nodeName: n1"),
    step("get pod/web-0 -o json", '"kind": "Pod"'),
    step("get pods -o name", "pod/web-0"),
    step("get pods -o jsonpath={.items[*].spec.containers[*].image}", "nginx:1.27 busybox"),
    step("get pods -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName", "web-0 n1"),
    step("get pods -o go-template={{range.items}}{{.metadata.name}}{{end}}", "web-0"),
    step("get pods --show-labels", "app=web"),
    step("get pods -L app --no-headers", "web"),
    step("get pods -l app=web,tier!=x", "web-0"),
    step("get pods -l app=none", "No resources found"),
    step("get pods --field-selector spec.nodeName=n1,status.phase=Running", "web-0"),
    step("get pods --field-selector spec.nothing=1", "field label not supported", code=1),
    step("get pods --sort-by=.metadata.name", "web-0"),
    step("get pod web-0 --subresource=status", "web-0"),
    step("get pods,cm,deploy", "pod/web-0"),
    step("get all", "pod/web-0"),
    step("get pod nothing", 'pods "nothing" not found', code=1),
    step("get sheep", 'doesn\'t have a resource type "sheep"', code=1),
    step("get pod web-0 --subresource=status -o json", '"podIP": "10.0.0.7"'),
    step("get pods --chunk-size=1 -A --field-selector metadata.namespace={ns}", "web-0"),
    step("logs web-0 -c nothing", "container nothing is not valid for pod web-0", code=1),
    step("delete pod web-0", 'pod "web-0" deleted'),
]

DESCRIBE = [
    step("apply -f -", stdin=objects.POD),
    step("patch pod web-0 --subresource=status -p " + objects.POD_STATUS.replace("\n", ""),
         "patched"),
    step("apply -f -", stdin=objects.CONFIG_MAP),
    step("create -f -", "event/web-0.1 created", stdin=objects.EVENT),
    step("describe pod web-0", "Restart Count: 2"),
    step("describe cm settings", "colour:"),
    step("describe node n1", "nvidia.com/gpu"),
    step("get events", "BackOff"),
    step("events --for pod/web-0", "restarting a container"),
    step("get events -o custom-columns=R:.reason,C:.count", "BackOff 3"),
    step("create secret generic s --from-literal=k=v", "secret/s created"),
    step("describe secret s", "k: 1 bytes"),
    step("apply -f -", stdin=objects.DEPLOYMENT),
    step("describe deployment web", "RollingUpdate"),
    step("delete pod web-0 --grace-period=0 --force", "deleted"),
]

CHANGE = [
    step("apply -f -", stdin=objects.CONFIG_MAP),
    step("label cm settings tier=front", "configmap/settings labeled"),
    step("label cm settings tier=back", "already has a value", code=1),
    step("label cm settings tier=back --overwrite", "labeled"),
    step("label cm settings tier-", "unlabeled"),
    step("annotate cm settings note=hello", "annotated"),
    step("annotate cm settings note-", "annotated"),
    step('patch cm settings -p {"data":{"a":"1"}}', "patched"),
    step('patch cm settings --type=merge -p {"data":{"a":null,"b":"2"}}', "patched"),
    step('patch cm settings --type=json -p [{"op":"add","path":"/data/c","value":"3"}]', "patched"),
    step('patch cm settings --type=json -p [{"op":"test","path":"/data/c","value":"4"}]',
         "error", code=1),
    step("get cm settings -o jsonpath={.data}", '"c":"3"'),
    step("edit cm settings", "configmap/settings edited", editor="sed -i s/red/blue/"),
    step("edit cm settings", "Edit cancelled", editor="true"),
    step("get cm settings -o jsonpath={.data.colour}", "blue"),
    step("replace -f -", "configmap/settings replaced", stdin=objects.CONFIG_MAP),
    step("replace --force -f -", "configmap/settings replaced", stdin=objects.CONFIG_MAP),
    step("apply -f -", "deployment.apps/web created", stdin=objects.DEPLOYMENT),
    step("scale deploy web --replicas=5", "scaled"),
    step("scale deploy web --replicas=1 --current-replicas=2", "Expected replicas to be 2",
         code=1),
    step("get deploy web", "web 0/5 0 0"),
    step("set image deploy/web main=nginx:1.28", "image updated"),
    step("set env deploy/web MODE=slow", "env updated"),
    step("set resources deploy/web --limits=cpu=1", "resource requirements updated"),
    step("rollout restart deploy/web", "restarted"),
    step("rollout pause deploy/web", "paused"),
    step("rollout resume deploy/web", "resumed"),
    step("get deploy web -o jsonpath={.spec.template.spec.containers[0]}", "nginx:1.28"),
    step('patch deploy web -p {"spec":{"template":{"spec":{"containers":'
         '[{"name":"side","image":"busybox"}]}}}}', "patched"),
    step("get deploy web -o jsonpath={.spec.template.spec.containers[*].name}", "side main"),
    step("delete deploy,cm --all", 'deployment.apps "web" deleted'),
]

NODES = [
    step("cordon n1", "node/n1 cordoned"),
    step("get nodes", "n1 Ready,SchedulingDisabled"),
    step("uncordon n1", "node/n1 uncordoned"),
    step("taint node n1 gpu=yes:NoSchedule", "node/n1 tainted"),
    step("taint node n1 gpu=yes:NoSchedule", "already has gpu taint", code=1),
    step("taint node n1 gpu-", "node/n1 untainted"),
    step("label node n1 zone=a --overwrite", "node/n1 "),
    step("apply -f -", stdin=objects.POD),
    step("drain n1 --force --grace-period=0 --delete-emptydir-data --pod-selector=app=web",
         "node/n1 drained"),
    step("get pods", "No resources found"),
    step("uncordon n1", "uncordoned"),
    step("get node n1 -o wide", "10.1.0.1"),
]

CREATE = [
    step("create configmap c --from-literal=k=v", "configmap/c created"),
    step("create configmap c", "already exists", code=1),
    step("create secret generic s --from-literal=k=v", "secret/s created"),
    step("create secret docker-registry r --docker-username=u --docker-password=p"
         " --docker-server=h", "secret/r created"),
    step("get secrets", "kubernetes.io/dockerconfigjson"),
    step("create serviceaccount robot", "serviceaccount/robot created"),
    step("create deployment d --image=nginx --replicas=2 --port=80", "deployment.apps/d created"),
    step("create job j --image=busybox -- echo hello", "job.batch/j created"),
    step("get job j", "j Running 0/1"),
    step("create role reader --verb=get,list --resource=pods", "created"),
    step("create rolebinding b --role=reader --serviceaccount={ns}:robot", "created"),
    step("create clusterrole {ns}-r --verb=get --resource=nodes", "created"),
    step("create clusterrolebinding {ns}-b --clusterrole={ns}-r --user=me", "created"),
    step("create priorityclass {ns}-p --value=5 --description=x", "created"),
    step("get role reader -o yaml", "- pods"),
    step("get rolebinding b -o wide", "{ns}/robot"),
    step("create namespace {ns}-more", "namespace/{ns}-more created"),
    step("create configmap x --from-literal=a=b --dry-run=server -o yaml", "a: b"),
    step("create configmap x --from-literal=a=b --dry-run=client -o yaml", "a: b"),
    step("run p --image=busybox --restart=Never --overrides="
         '{"spec":{"automountServiceAccountToken":false}} -- sleep 1', "pod/p created"),
    step("get pod p -o jsonpath={.spec.containers[0].args}", "sleep"),
    step("auth can-i create pods", "yes"),
    step("auth can-i get pods --subresource=log -q"),
    step("delete clusterrole/{ns}-r clusterrolebinding/{ns}-b priorityclass/{ns}-p", "deleted"),
]

CUSTOM = [
    step("apply -f -", "widget.shop.example.com/one created", stdin=objects.WIDGET),
    step("get wd", "one red 1"),
    step("get widgets -o wide", "hello"),
    step("get widget one -o yaml", "replicas: 1"),
    step("describe widget one", "Colour: red"),
    step("apply -f -", 'supported values: "red", "green"', code=1,
         stdin=objects.WIDGET.replace("red", "pink")),
    step("apply -f -", "unchanged", stdin=objects.WIDGET),
    step("apply -f -", "configured", stdin=objects.WIDGET.replace("red", "green")),
    step("apply --server-side --force-conflicts -f -", "serverside-applied", stdin=objects.WIDGET),
    step('patch widget one --type=merge -p {"spec":{"replicas":2}}', "patched"),
    step('patch widget one -p {"spec":{"replicas":2}}', "is not supported by", code=1),
    step("scale widget one --replicas=4", "scaled"),
    step("get widget one -o jsonpath={.spec.replicas}", "4"),
    step('patch widget one --subresource=status --type=merge -p {"status":{"phase":"Done"}}',
         "patched"),
    step("wait widget one --for=jsonpath={.status.phase}=Done --timeout=20s", "condition met"),
    step("explain widget.spec.colour", "What it looks like."),
    step("explain widget --recursive", "colour <string> -required-"),
    step("label widget one a=b", "labeled"),
    step("edit widget one", "edited", editor="sed -i s/hello/bye/"),
    step("delete widget one", 'widget.shop.example.com "one" deleted'),
]

WAIT = [
    step("apply -f -", stdin=objects.POD),
    step("wait pod web-0 --for=condition=Ready --timeout=1s", "timed out", code=1),
    step("patch pod web-0 --subresource=status -p " + objects.POD_STATUS.replace("\n", ""),
         "patched"),
    step("wait pod web-0 --for=condition=Ready --timeout=20s", "pod/web-0 condition met"),
    step("wait pod web-0 --for=jsonpath={.status.podIP}=10.0.0.7 --timeout=20s", "condition met"),
    step("delete pod web-0 --wait=false --grace-period=0 --force", "deleted"),
    step("wait pod web-0 --for=delete --timeout=20s"),
]

SERVER = [
    step("cluster-info", "Kubernetes control plane is running at SERVER"),
    step("get --raw /readyz", "ok"),
    step("get --raw /healthz", "ok"),
    step("top nodes", "Metrics API not available", code=1),
    step("api-resources --api-group=apps --no-headers -o name --namespaced=false"),
    step("auth can-i list nodes", "yes"),
]

SESSIONS = {
    "apply": APPLY,
    "server-side": SERVER_SIDE,
    "get": GET,
    "describe": DESCRIBE,
    "change": CHANGE,
    "nodes": NODES,
    "create": CREATE,
    "custom": CUSTOM,
    "wait": WAIT,
    "server": SERVER,
}
