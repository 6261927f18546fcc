"""Objects that the kubectl sessions apply."""

CONFIG_MAP = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: web}}
data: {colour: red, size: "3"}
"""

CONFIG_MAP_CHANGED = CONFIG_MAP.replace("red", "green")

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web-0, labels: {app: web}}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 0
  automountServiceAccountToken: false
  initContainers: [{name: prepare, image: busybox}]
  containers:
  - name: main
    image: nginx:1.27
    args: [serve, --port=80]
    env: [{name: MODE, value: fast}, {name: KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}]
    ports: [{containerPort: 80, name: http}]
    resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}
    readinessProbe: {httpGet: {path: /ready, port: http}}
    volumeMounts: [{name: data, mountPath: /data}]
  - {name: side, image: busybox}
  volumes: [{name: data, emptyDir: {}}, {name: conf, configMap: {name: settings}}]
"""

POD_STATUS = """{"status":{"phase":"Running","podIP":"10.0.0.7","podIPs":[{"ip":"10.0.0.7"}],
"startTime":"2026-11-16T08:00:00Z","conditions":[
{"type":"Ready","status":"True","lastTransitionTime":"2026-11-16T08:00:05Z"}],
"containerStatuses":[{"name":"main","ready":true,"restartCount":2,"image":"nginx:1.27",
"imageID":"x","started":true,"state":{"running":{"startedAt":"2026-11-16T08:00:04Z"}}}]}}"""

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status:
  capacity: {cpu: "4", memory: 8Gi, pods: "110", nvidia.com/gpu: "2"}
  allocatable: {cpu: "4", memory: 8Gi, pods: "110", nvidia.com/gpu: "2"}
  addresses: [{type: InternalIP, address: 10.1.0.1}]
  nodeInfo: {kubeletVersion: v1.34.4, osImage: Debian, kernelVersion: "6.1", architecture: amd64,
    containerRuntimeVersion: none, operatingSystem: linux, bootID: b, machineID: m, systemUUID: u,
    kubeProxyVersion: ""}
  conditions: [{type: Ready, status: "True", reason: KubeletReady, message: ready,
    lastHeartbeatTime: "2026-11-16T08:00:00Z", lastTransitionTime: "2026-11-16T08:00:00Z"}]
"""

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "nginx:1.27"}]}
"""

EVENT = """
apiVersion: v1
kind: Event
metadata: {name: web-0.1}
involvedObject: {apiVersion: v1, kind: Pod, name: web-0, namespace: "{ns}"}
type: Warning
reason: BackOff
message: restarting a container that failed
count: 3
source: {component: kubelet, host: n1}
firstTimestamp: "2026-11-16T08:00:00Z"
lastTimestamp: "2026-11-16T08:01:00Z"
"""

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Colour, type: string, jsonPath: .spec.colour}
    - {name: Replicas, type: integer, jsonPath: .spec.replicas}
    - {name: Note, type: string, jsonPath: .spec.note, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: A thing that is sold.
        properties:
          spec:
            type: object
            description: What is wanted.
            required: [colour]
            properties:
              colour: {type: string, enum: [red, green], description: What it looks like.}
              replicas: {type: integer, minimum: 0, default: 1}
              note: {type: string}
          status:
            type: object
            properties:
              replicas: {type: integer}
              phase: {type: string}
"""

WIDGET = """
apiVersion: shop.example.com/v1
kind: Widget
metadata: {name: one}
spec: {colour: red, note: hello}
"""

OWNED = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: %s
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: "%s",
    blockOwnerDeletion: true}]
"""

LIST = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: l1, labels: {set: one}}}
- {apiVersion: v1, kind: Secret, metadata: {name: l2, labels: {set: one}}, stringData: {a: b}}
"""

JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  backoffLimit: 3
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: busybox}]}}
"""

CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
