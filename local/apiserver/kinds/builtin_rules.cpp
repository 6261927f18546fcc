#include "local/apiserver/kinds/builtin_rules.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

struct Row {
  std::string_view kind = {};
  void (*create)(const Json&, Causes&) = nullptr;
  void (*update)(const Json&, const Json&, Causes&) = nullptr;  // null: the rules of create
};

void update_priority_class(const Json& old, const Json& object, Causes& causes) {
  check_priority_class_update(old, object, causes);
}

void update_deployment(const Json& old, const Json& object, Causes& causes) {
  check_deployment(object, causes);
  check_selector_update(old, object, causes);
}

void update_replica_set(const Json& old, const Json& object, Causes& causes) {
  check_replica_set(object, causes);
  check_selector_update(old, object, causes);
}

void update_volume_claim(const Json& old, const Json& object, Causes& causes) {
  check_volume_claim(object, causes);
  Json before = map_at(old, {"spec"});
  Json now = map_at(object, {"spec"});
  for (Json* spec : {&before, &now}) {
    spec->erase("volumeName");
    spec->erase("volumeAttributesClassName");
    spec->erase("resources");
  }
  if (before != now) {
    causes.forbidden(FieldPath("spec"),
                     "spec is immutable after creation except resources.requests and "
                     "volumeAttributesClassName for bound claims");
  }
}

constexpr std::array kRows = {
    Row{"Pod", check_pod, check_pod_update},
    Row{"ConfigMap", check_config_map, check_config_map_update},
    Row{"Secret", check_secret, check_secret_update},
    Row{"Service", check_service, check_service_update},
    Row{"Node", check_node},
    Row{"Lease", check_lease},
    Row{"PriorityClass", check_priority_class, update_priority_class},
    Row{"PersistentVolumeClaim", check_volume_claim, update_volume_claim},
    Row{"Endpoints", check_endpoints},
    Row{"EndpointSlice", check_endpoint_slice},
    Row{"Deployment", check_deployment, update_deployment},
    Row{"ReplicaSet", check_replica_set, update_replica_set},
    Row{"Job", check_job, check_job_update},
    Row{"CustomResourceDefinition", check_crd, check_crd_update},
};

void append(std::vector<Cause>& to, std::vector<Cause> more) {
  for (Cause& cause : more) {
    if (to.size() < kRuleCausesMax) to.push_back(std::move(cause));
  }
}

// Kinds whose rules depend on the group or the scope.
void check_by_kind(const Kind& kind, const Json* old, const Json& object, Causes& causes) {
  if (kind.kind == "Event") {
    check_event(kind, object, causes);
    if (old != nullptr && !kind.group.empty()) check_new_event_update(*old, object, causes);
    return;
  }
  if (kind.kind == "Role" || kind.kind == "ClusterRole") return check_role(kind, object, causes);
  if (kind.kind == "RoleBinding" || kind.kind == "ClusterRoleBinding") {
    check_role_binding(kind, object, causes);
    if (old != nullptr) check_role_binding_update(*old, object, causes);
    return;
  }
  for (const Row& row : kRows) {
    if (row.kind != kind.kind) continue;
    if (old != nullptr && row.update != nullptr) return row.update(*old, object, causes);
    return row.create(object, causes);
  }
}

void check_deployment_status(const Json& deployment, Causes& causes) {
  const FieldPath path("status");
  const Json& status = map_at(deployment, {"status"});
  for (const std::string_view name : {"observedGeneration", "replicas", "updatedReplicas",
                                      "readyReplicas", "availableReplicas"}) {
    causes.not_negative(path, status, name);
  }
  const std::int64_t replicas = number_at(status, {"replicas"}).value_or(0);
  for (const std::string_view name : {"updatedReplicas", "readyReplicas", "availableReplicas"}) {
    const std::int64_t part = number_at(status, {name}).value_or(0);
    if (part > replicas) {
      causes.invalid(path.child(name), part, "cannot be greater than status.replicas");
    }
  }
}

// The event's own rules come first there; those of the core group are silent about metadata.
std::vector<Cause> validate_event(const Kind& kind, const Json& event) {
  Causes causes;
  check_event(kind, event, causes);
  if (kind.group.empty()) return causes.empty() ? validate_meta(kind, event) : causes.take();
  std::vector<Cause> all = causes.take();
  append(all, validate_meta(kind, event));
  Causes more;
  check_new_event(event, more);
  append(all, more.take());
  return all;
}

}  // namespace

std::vector<Cause> validate_create(const Kind& kind, const Json& object) {
  if (kind.builtin && kind.kind == "Event") return validate_event(kind, object);
  std::vector<Cause> all = validate_meta(kind, object);
  if (!kind.builtin) return all;
  Causes causes;
  check_by_kind(kind, nullptr, object, causes);
  append(all, causes.take());
  return all;
}

std::vector<Cause> validate_update(const Kind& kind, const Json& old, const Json& object) {
  std::vector<Cause> all = validate_meta_update(kind, old, object);
  if (!kind.builtin) return all;
  Causes causes;
  check_by_kind(kind, &old, object, causes);
  append(all, causes.take());
  return all;
}

std::vector<Cause> validate_status_update(const Kind& kind, const Json& old, const Json& object) {
  std::vector<Cause> all = validate_meta_update(kind, old, object);
  if (!kind.builtin) return all;
  Causes causes;
  if (kind.kind == "Pod") check_pod_status_update(old, object, causes);
  if (kind.kind == "Job") check_job_status_update(old, object, causes);
  if (kind.kind == "Deployment") check_deployment_status(object, causes);
  append(all, causes.take());
  return all;
}

}  // namespace amdahl::local
