"""Sessions about kinds that the others do not touch, lists of objects, and what is refused."""

import kubectl_objects as objects
from kubectl_step import step

LISTS = [
    step("create -f -", "secret/l2 created", stdin=objects.LIST),
    step("get cm,secret -l set=one", "secret/l2 Opaque 1"),
    step("get -f -", "configmap/l1", stdin=objects.LIST),
    step("apply -f -", "configmap/l1 configured", stdin=objects.LIST),
    step("delete -l set=one cm,secret --dry-run=server", "(server dry run)"),
    step("delete -l set=one cm,secret", 'secret "l2" deleted'),
    step("get cm,secret -l set=one", "No resources found"),
]

KINDS = [
    step("apply -f -", "job.batch/train created", stdin=objects.JOB),
    step("describe job train", "Backoff Limit: 3"),
    step("get jobs -o wide", "busybox"),
    step("delete job train", "deleted"),
    step("apply -f -", "claim created", stdin=objects.CLAIM),
    step("get pvc", "claim Pending"),
    step("describe pvc claim", "Access Modes:"),
    step("delete pvc claim --wait=false", "deleted"),
    step("create role r --verb=get --resource=pods", "created"),
    step("describe role r", "pods [] [] [get]"),
    step("create serviceaccount sa", "created"),
    step("describe sa sa", "Tokens: <none>"),
    step("get sa sa", "sa 0"),
    step("get crd widgets.shop.example.com", "widgets.shop.example.com"),
    step("describe crd widgets.shop.example.com", "A thing that is sold."),
    step("create deployment d --image=nginx -o yaml --dry-run=server", "progressDeadlineSeconds"),
    step("apply --server-side -f -", "serverside-applied", stdin=objects.DEPLOYMENT),
    step("apply --server-side -f - --field-manager=other", "conflict", code=1,
         stdin=objects.DEPLOYMENT.replace("1.27", "1.28")),
    step("get deploy web -o yaml --show-managed-fields", "f:image: {}"),
    step("delete deploy web --cascade=foreground --wait=false", "deleted"),
    step("apply --server-side -f -", "pod/web-0 serverside-applied", stdin=objects.POD),
    step("get pod web-0 -o yaml --show-managed-fields", "operation: Apply"),
    step("label pod web-0 a=b", "labeled"),
    step("get pod web-0 -o yaml --show-managed-fields", "manager: kubectl-label"),
    step('patch pod web-0 -p {"spec":{"containers":[{"name":"main","image":"x"}]}}', "patched"),
    step("delete pod web-0 --grace-period=0 --force", "deleted"),
    step("get leases,rs,endpointslices", "No resources found"),
    step("get ns {ns} -o yaml", "kubernetes.io/metadata.name: {ns}"),
    step("get nodes -o yaml", "nvidia.com/gpu"),
]

REFUSED = [
    step("apply -f -", "must be no more than 253", code=1,
         stdin=objects.CONFIG_MAP.replace("settings", "x" * 254)),
    step("create -f -", "kind not set", code=1, stdin="{}"),
    step("create -f -", "spec.containers: Required value", code=1,
         stdin="apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"),
    step("create -f -", 'unknown field "bogus"', code=1,
         stdin=objects.WIDGET.replace("spec:", "bogus: 1\nspec:")),
    step("apply -f -", "must be greater than or equal to 0", code=1,
         stdin=objects.DEPLOYMENT.replace("replicas: 2", "replicas: -1")),
    step("explain pods.spec.nothing", 'field "nothing" does not exist', code=1),
    step("explain sheep", "the server doesn't have a resource type", code=1),
    step("replace -f -", "NotFound", code=1, stdin=objects.CONFIG_MAP),
    step("annotate cm nothing a=b", "NotFound", code=1),
    step("patch cm nothing -p {}", "NotFound", code=1),
    step("rollout status deploy/nothing", "NotFound", code=1),
    step("get pods --field-selector=a", "invalid selector", code=1),
    step("get clusterroles nothing", "NotFound", code=1),
]
