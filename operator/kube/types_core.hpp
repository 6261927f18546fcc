// v1: Node, Namespace, ConfigMap, Service and the reference to any object. Pod is in types_pod.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/kube/int_or_string.hpp"
#include "operator/kube/quantity.hpp"
#include "operator/kube/types_meta.hpp"

namespace amdahl::kube {

inline const Resource kNodes{
    .group = "", .version = "v1", .plural = "nodes", .kind = "Node", .namespaced = false};
inline const Resource kNamespaces{
    .group = "", .version = "v1", .plural = "namespaces", .kind = "Namespace", .namespaced = false};
inline const Resource kConfigMaps{
    .group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"};
inline const Resource kServices{
    .group = "", .version = "v1", .plural = "services", .kind = "Service"};

struct ObjectReference {
  std::string kind = {};
  std::string ns = {};
  std::string name = {};
  std::string uid = {};
  std::string api_version = {};
  std::string version = {};
  std::string field_path = {};
  bool operator==(const ObjectReference&) const = default;
};
template <class V>
constexpr void fields(V& v, ObjectReference& reference) {
  v.optional("kind", reference.kind, {.wire = 1});
  v.optional("namespace", reference.ns, {.wire = 2});
  v.optional("name", reference.name, {.wire = 3});
  v.optional("uid", reference.uid, {.wire = 4});
  v.optional("apiVersion", reference.api_version, {.wire = 5});
  v.optional("resourceVersion", reference.version, {.wire = 6});
  v.optional("fieldPath", reference.field_path, {.wire = 7});
}

struct Taint {
  std::string key = {};
  std::string value = {};
  std::string effect = {};  // "NoSchedule", "PreferNoSchedule", "NoExecute"
  bool operator==(const Taint&) const = default;
};
template <class V>
constexpr void fields(V& v, Taint& taint) {
  v.required("key", taint.key, {.wire = 1});
  v.optional("value", taint.value, {.wire = 2});
  v.required("effect", taint.effect, {.wire = 3});
}

struct NodeSpec {
  std::string provider_id = {};
  bool unschedulable = false;
  std::vector<Taint> taints = {};
  bool operator==(const NodeSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, NodeSpec& spec) {
  v.optional("providerID", spec.provider_id, {.wire = 3});
  v.optional("unschedulable", spec.unschedulable, {.wire = 4});
  v.optional("taints", spec.taints, {.wire = 5});
}

// Without lastHeartbeatTime, which changes every few minutes and says nothing new (Q7).
struct NodeCondition {
  std::string type = {};
  ConditionStatus status = ConditionStatus::kUnknown;
  std::optional<WallTime> changed = {};
  std::string reason = {};
  std::string message = {};
  bool operator==(const NodeCondition&) const = default;
};
template <class V>
constexpr void fields(V& v, NodeCondition& condition) {
  v.required("type", condition.type, {.wire = 1});
  v.required("status", condition.status, {.wire = 2});
  v.optional("lastTransitionTime", condition.changed, {.wire = 4});
  v.optional("reason", condition.reason, {.wire = 5});
  v.optional("message", condition.message, {.wire = 6});
}

struct NodeStatus {
  std::map<std::string, Quantity> capacity = {};
  std::map<std::string, Quantity> allocatable = {};
  std::vector<NodeCondition> conditions = {};
  bool operator==(const NodeStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, NodeStatus& status) {
  v.optional("capacity", status.capacity, {.wire = 1});
  v.optional("allocatable", status.allocatable, {.wire = 2});
  v.optional("conditions", status.conditions, {.wire = 4});
}

struct Node {
  CacheMeta metadata = {};
  NodeSpec spec = {};
  NodeStatus status = {};
  bool operator==(const Node&) const = default;
  static const Resource& resource() { return kNodes; }
};
template <class V>
constexpr void fields(V& v, Node& node) {
  v.required("metadata", node.metadata, {.wire = 1});
  v.optional("spec", node.spec, {.wire = 2});
  v.optional("status", node.status, {.wire = 3});
}

struct NamespaceStatus {
  std::string phase = {};  // "Active" or "Terminating"
  bool operator==(const NamespaceStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, NamespaceStatus& status) {
  v.optional("phase", status.phase, {.wire = 1});
}

struct Namespace {
  CacheMeta metadata = {};
  NamespaceStatus status = {};
  bool operator==(const Namespace&) const = default;
  static const Resource& resource() { return kNamespaces; }
};
template <class V>
constexpr void fields(V& v, Namespace& space) {
  v.required("metadata", space.metadata, {.wire = 1});
  v.optional("status", space.status, {.wire = 3});
}

struct ConfigMap {
  ObjectMeta metadata = {};
  PackedMap data = {};
  bool immutable = false;
  bool operator==(const ConfigMap&) const = default;
  static const Resource& resource() { return kConfigMaps; }
};
template <class V>
constexpr void fields(V& v, ConfigMap& map) {
  v.required("metadata", map.metadata, {.wire = 1});
  v.optional("data", map.data, {.wire = 2});
  v.optional("immutable", map.immutable, {.wire = 4});
}

struct ServicePort {
  std::string name = {};
  std::string protocol = {};  // empty: TCP
  std::int32_t port = 0;
  std::optional<IntOrString> target = {};
  bool operator==(const ServicePort&) const = default;
};
template <class V>
constexpr void fields(V& v, ServicePort& port) {
  v.optional("name", port.name, {.wire = 1});
  v.optional("protocol", port.protocol, {.wire = 2});
  v.required("port", port.port, {.wire = 3});
  v.optional("targetPort", port.target, {.wire = 4});
}

struct ServiceSpec {
  std::vector<ServicePort> ports = {};
  PackedMap selector = {};
  std::string cluster_ip = {};  // "None": headless
  std::string type = {};        // empty: ClusterIP
  bool publish_not_ready = false;
  bool operator==(const ServiceSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, ServiceSpec& spec) {
  v.optional("ports", spec.ports, {.wire = 1});
  v.optional("selector", spec.selector, {.wire = 2});
  v.optional("clusterIP", spec.cluster_ip, {.wire = 3});
  v.optional("type", spec.type, {.wire = 4});
  v.optional("publishNotReadyAddresses", spec.publish_not_ready, {.wire = 13});
}

struct Service {
  ObjectMeta metadata = {};
  ServiceSpec spec = {};
  bool operator==(const Service&) const = default;
  static const Resource& resource() { return kServices; }
};
template <class V>
constexpr void fields(V& v, Service& service) {
  v.required("metadata", service.metadata, {.wire = 1});
  v.optional("spec", service.spec, {.wire = 2});
}

}  // namespace amdahl::kube
