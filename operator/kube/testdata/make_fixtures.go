// Writes the fixtures of types_test.cpp and wire_envelope_test.cpp: the same objects as JSON and as
// protobuf, by Kubernetes' own serializers. Run it in a Go module that requires k8s.io/api and
// k8s.io/apimachinery: go run make_fixtures.go <this folder>
package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	events "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var scheme = runtime.NewScheme()
var folder string

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func envelope(object runtime.Object) []byte {
	var out bytes.Buffer
	check(protobuf.NewSerializer(scheme, scheme).Encode(object, &out))
	return out.Bytes()
}

func write(name string, object runtime.Object) {
	text, err := json.MarshalIndent(object, "", " ")
	check(err)
	check(os.WriteFile(filepath.Join(folder, name+".json"), append(text, '\n'), 0o644))
	check(os.WriteFile(filepath.Join(folder, name+".pb"), envelope(object), 0o644))
}

func at(seconds int64) meta.Time { return meta.NewTime(time.Unix(1_700_000_000+seconds, 0).UTC()) }
func microAt(seconds int64) *meta.MicroTime {
	t := meta.NewMicroTime(time.Unix(1_700_000_000+seconds, 123456000).UTC())
	return &t
}
func ptr[T any](value T) *T { return &value }

func pod() *core.Pod {
	deleted := at(100)
	return &core.Pod{
		TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: meta.ObjectMeta{
			Name: "llama-1-0", GenerateName: "llama-", Namespace: "research", UID: "8e1c2c0e-7d5a-4c5e-9a52-0a5e3a1f0001",
			ResourceVersion: "123456", Generation: 3, CreationTimestamp: at(0), DeletionTimestamp: &deleted,
			DeletionGracePeriodSeconds: ptr[int64](30),
			Labels:                     map[string]string{"amdahl.dev/job": "llama", "amdahl.dev/attempt": "1", "tier": ""},
			Annotations:                map[string]string{"note": "one \"quoted\" line\nand \u00e9"},
			OwnerReferences: []meta.OwnerReference{
				{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "u-0"},
				{APIVersion: "amdahl.dev/v1alpha1", Kind: "TrainingJob", Name: "llama", UID: "u-1", Controller: ptr(true), BlockOwnerDeletion: ptr(true)}},
			Finalizers:    []string{"amdahl.dev/pods"},
			ManagedFields: []meta.ManagedFieldsEntry{{Manager: "amdahl", Operation: "Apply", APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:spec":{}}`)}}},
		},
		Spec: core.PodSpec{
			NodeName: "gpu-7", SchedulerName: "volcano", PriorityClassName: "high", ServiceAccountName: "trainer",
			TerminationGracePeriodSeconds: ptr[int64](30),
			Containers: []core.Container{{Name: "trainer", Image: "registry.example/llama:1", Env: []core.EnvVar{{Name: "A", Value: "B"}},
				Resources: core.ResourceRequirements{Limits: core.ResourceList{"nvidia.com/gpu": resource.MustParse("8")}}}},
			Tolerations: []core.Toleration{{Key: "k", Operator: "Exists", TolerationSeconds: ptr[int64](300)}},
		},
		Status: core.PodStatus{
			Phase: core.PodRunning, Message: "m", Reason: "r", HostIP: "10.0.0.7", PodIP: "10.1.0.7", StartTime: ptr(at(5)),
			PodIPs: []core.PodIP{{IP: "10.1.0.7"}},
			Conditions: []core.PodCondition{
				{Type: "PodScheduled", Status: "True", LastTransitionTime: at(1)},
				{Type: "Ready", Status: "False", LastTransitionTime: at(9), Reason: "ContainersNotReady", Message: "containers with unready status: [trainer]"},
				{Type: "example.com/extra", Status: "Unknown"}},
			InitContainerStatuses: []core.ContainerStatus{{Name: "launch", State: core.ContainerState{Terminated: &core.ContainerStateTerminated{Reason: "Completed", StartedAt: at(2), FinishedAt: at(3)}}}},
			ContainerStatuses: []core.ContainerStatus{{Name: "trainer", Ready: true, RestartCount: 2, Image: "registry.example/llama:1", Started: ptr(true),
				State:                core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: at(8)}},
				LastTerminationState: core.ContainerState{Terminated: &core.ContainerStateTerminated{ExitCode: -1, Signal: 9, Reason: "OOMKilled", Message: "last words", StartedAt: at(5), FinishedAt: at(7)}}},
				{Name: "sidecar", State: core.ContainerState{Waiting: &core.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}}}},
		},
	}
}

func node() *core.Node {
	return &core.Node{
		TypeMeta:   meta.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: meta.ObjectMeta{Name: "gpu-7", UID: "n-7", ResourceVersion: "9", CreationTimestamp: at(0), Labels: map[string]string{"gpu": "h100"}},
		Spec:       core.NodeSpec{ProviderID: "gce://p/z/gpu-7", Unschedulable: true, PodCIDR: "10.1.0.0/24", Taints: []core.Taint{{Key: "nvidia.com/gpu", Value: "present", Effect: "NoSchedule"}}},
		Status: core.NodeStatus{
			Capacity:    core.ResourceList{"cpu": resource.MustParse("208"), "memory": resource.MustParse("1.5Ti"), "nvidia.com/gpu": resource.MustParse("8")},
			Allocatable: core.ResourceList{"cpu": resource.MustParse("207500m"), "memory": resource.MustParse("1500Gi"), "nvidia.com/gpu": resource.MustParse("8")},
			Conditions:  []core.NodeCondition{{Type: "Ready", Status: "True", LastHeartbeatTime: at(50), LastTransitionTime: at(2), Reason: "KubeletReady", Message: "ok"}},
		},
	}
}

func main() {
	folder = os.Args[1]
	check(core.AddToScheme(scheme))
	check(coordination.AddToScheme(scheme))
	check(events.AddToScheme(scheme))
	meta.AddToGroupVersion(scheme, core.SchemeGroupVersion)
	write("pod", pod())
	write("node", node())
	write("namespace", &core.Namespace{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: meta.ObjectMeta{Name: "research", ResourceVersion: "4"}, Status: core.NamespaceStatus{Phase: "Active"}})
	write("configmap", &core.ConfigMap{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta.ObjectMeta{Name: "c", Namespace: "research", ResourceVersion: "5", Finalizers: []string{"a/b"}, Annotations: map[string]string{"x": "y"}}, Immutable: ptr(true), Data: map[string]string{"b": "2", "a": "1"}})
	write("service", &core.Service{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: meta.ObjectMeta{Name: "s", Namespace: "research", ResourceVersion: "6"},
		Spec: core.ServiceSpec{ClusterIP: "None", Type: "ClusterIP", PublishNotReadyAddresses: true, Selector: map[string]string{"job": "llama"},
			Ports: []core.ServicePort{{Name: "rdzv", Protocol: "TCP", Port: 29500, TargetPort: intstr.FromInt32(29500)}, {Name: "named", Port: 80, TargetPort: intstr.FromString("http")}}}})
	write("lease", &coordination.Lease{TypeMeta: meta.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}, ObjectMeta: meta.ObjectMeta{Name: "amdahl", Namespace: "system", ResourceVersion: "7"},
		Spec: coordination.LeaseSpec{HolderIdentity: ptr("a_1"), LeaseDurationSeconds: ptr[int32](15), AcquireTime: microAt(1), RenewTime: microAt(2), LeaseTransitions: ptr[int32](4)}})
	write("event", &events.Event{TypeMeta: meta.TypeMeta{APIVersion: "events.k8s.io/v1", Kind: "Event"}, ObjectMeta: meta.ObjectMeta{Name: "e", Namespace: "research", ResourceVersion: "8"},
		EventTime: *microAt(3), Series: &events.EventSeries{Count: 12, LastObservedTime: *microAt(4)}, ReportingController: "amdahl.dev/operator", ReportingInstance: "pod-0", Action: "Restart", Reason: "RankFailed", Note: "rank 1 failed", Type: "Warning",
		Regarding: core.ObjectReference{Kind: "TrainingJob", Namespace: "research", Name: "llama", UID: "u-1", APIVersion: "amdahl.dev/v1alpha1", ResourceVersion: "77", FieldPath: "spec"}, Related: &core.ObjectReference{Kind: "Pod", Name: "llama-1-0"}})
	write("status", &meta.Status{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Message: "pods \"x\" already exists", Reason: "AlreadyExists", Code: 409,
		Details: &meta.StatusDetails{Name: "x", Group: "g", Kind: "pods", UID: "u", RetryAfterSeconds: 3, Causes: []meta.StatusCause{{Type: "FieldValueInvalid", Message: "bad", Field: "spec.x"}}}})

	remaining := int64(40)
	list := &core.PodList{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: meta.ListMeta{ResourceVersion: "555", Continue: "token", RemainingItemCount: &remaining}, Items: []core.Pod{*pod(), *pod()}}
	list.Items[1].Name = "llama-1-1"
	write("pod_list", list)

	event := meta.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: envelope(pod())}}
	raw, err := event.Marshal()
	check(err)
	check(os.WriteFile(filepath.Join(folder, "watch_event.pb"), raw, 0o644))
}
