// The kinds as the scheduler caches them: only the fields that decide over a place.
//
// Plain values with field tables, JSON only: the server in this process answers in JSON anyway.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "local/scheduler/types_affinity.hpp"
#include "local/scheduler/volcano_status.hpp"
#include "operator/kube/quantity.hpp"
#include "operator/kube/types_core.hpp"
#include "operator/kube/types_meta.hpp"
#include "operator/kube/types_pod.hpp"
#include "operator/kube/types_volcano.hpp"

namespace amdahl::local::scheduling::cached {

using Quantities = std::map<std::string, kube::Quantity>;

inline const kube::Resource kQueues{.group = "scheduling.volcano.sh",
                                    .version = "v1beta1",
                                    .plural = "queues",
                                    .kind = "Queue",
                                    .namespaced = false};
inline const kube::Resource kPriorityClasses{.group = "scheduling.k8s.io",
                                             .version = "v1",
                                             .plural = "priorityclasses",
                                             .kind = "PriorityClass",
                                             .namespaced = false};

struct ContainerResources {
  Quantities requests = {};
  Quantities limits = {};
};
template <class V>
constexpr void fields(V& v, ContainerResources& resources) {
  v.optional("requests", resources.requests);
  v.optional("limits", resources.limits);
}

struct Container {
  ContainerResources resources = {};
  std::string restart_policy = {};  // "Always" makes an init container a sidecar
};
template <class V>
constexpr void fields(V& v, Container& container) {
  v.optional("resources", container.resources);
  v.optional("restartPolicy", container.restart_policy);
}

struct SchedulingGate {
  std::string name = {};
};
template <class V>
constexpr void fields(V& v, SchedulingGate& gate) {
  v.optional("name", gate.name);
}

struct PodSpec {
  std::string node = {};
  std::string scheduler = {};
  std::string priority_class = {};
  std::optional<std::int32_t> priority = {};
  std::vector<Container> init_containers = {};
  std::vector<Container> containers = {};
  Quantities overhead = {};
  PackedMap node_selector = {};
  std::optional<Affinity> affinity = {};
  std::vector<PodToleration> tolerations = {};
  std::vector<SchedulingGate> gates = {};
};
template <class V>
constexpr void fields(V& v, PodSpec& spec) {
  v.optional("nodeName", spec.node);
  v.optional("schedulerName", spec.scheduler);
  v.optional("priorityClassName", spec.priority_class);
  v.optional("priority", spec.priority);
  v.optional("initContainers", spec.init_containers);
  v.optional("containers", spec.containers);
  v.optional("overhead", spec.overhead);
  v.optional("nodeSelector", spec.node_selector);
  v.optional("affinity", spec.affinity);
  v.optional("tolerations", spec.tolerations);
  v.optional("schedulingGates", spec.gates);
}

struct PodStatus {
  kube::PodPhase phase = kube::PodPhase::kUnknown;
  std::vector<kube::PodCondition> conditions = {};
};
template <class V>
constexpr void fields(V& v, PodStatus& status) {
  v.optional("phase", status.phase);
  v.optional("conditions", status.conditions);
}

struct Pod {
  kube::ObjectMeta metadata = {};
  PodSpec spec = {};
  PodStatus status = {};
  static const kube::Resource& resource() { return kube::kPods; }
};
template <class V>
constexpr void fields(V& v, Pod& pod) {
  v.required("metadata", pod.metadata);
  v.optional("spec", pod.spec);
  v.optional("status", pod.status);
}

struct PodGroupSpec {
  std::int32_t members_min = 0;
  std::map<std::string, std::int32_t> task_members_min = {};
  Quantities resources_min = {};
  std::string queue = {};
  std::string priority_class = {};
};
template <class V>
constexpr void fields(V& v, PodGroupSpec& spec) {
  v.optional("minMember", spec.members_min);
  v.optional("minTaskMember", spec.task_members_min);
  v.optional("minResources", spec.resources_min);
  v.optional("queue", spec.queue);
  v.optional("priorityClassName", spec.priority_class);
}

struct PodGroup {
  kube::ObjectMeta metadata = {};
  PodGroupSpec spec = {};
  GroupStatus status = {};
  static const kube::Resource& resource() { return kube::kPodGroups; }
};
template <class V>
constexpr void fields(V& v, PodGroup& group) {
  v.required("metadata", group.metadata);
  v.optional("spec", group.spec);
  v.optional("status", group.status);
}

struct QueueSpec {
  Quantities capability = {};
  std::int32_t weight = 0;
};
template <class V>
constexpr void fields(V& v, QueueSpec& spec) {
  v.optional("capability", spec.capability);
  v.optional("weight", spec.weight);
}

struct Queue {
  kube::ObjectMeta metadata = {};
  QueueSpec spec = {};
  QueueStatus status = {};
  static const kube::Resource& resource() { return kQueues; }
};
template <class V>
constexpr void fields(V& v, Queue& queue) {
  v.required("metadata", queue.metadata);
  v.optional("spec", queue.spec);
  v.optional("status", queue.status);
}

struct PriorityClass {
  kube::ObjectMeta metadata = {};
  std::int32_t value = 0;
  static const kube::Resource& resource() { return kPriorityClasses; }
};
template <class V>
constexpr void fields(V& v, PriorityClass& priority) {
  v.required("metadata", priority.metadata);
  v.optional("value", priority.value);
}

}  // namespace amdahl::local::scheduling::cached
