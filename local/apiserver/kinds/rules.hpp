// The rules of single kinds, called by builtin_rules.cpp.
//
// Pure functions that add causes. `old` is what is stored.
#pragma once

#include <nlohmann/json.hpp>

#include "local/apiserver/kinds/causes.hpp"
#include "local/apiserver/kinds/kind.hpp"

namespace amdahl::local {

// rules_meta.cpp: parts of metadata that also appear elsewhere.
void check_labels(const FieldPath& path, const Json& labels, Causes& causes);
void check_annotations(const FieldPath& path, const Json& annotations, Causes& causes);
void check_label_selector(const FieldPath& path, const Json& selector, Causes& causes);

// rules_pod.cpp and its parts
struct PodRules {
  bool is_template = false;  // inside a deployment or job
};
void check_pod(const Json& pod, Causes& causes);
void check_pod_template(const FieldPath& path, const Json& pod, Causes& causes);
void check_pod_update(const Json& old, const Json& pod, Causes& causes);
void check_pod_status_update(const Json& old, const Json& pod, Causes& causes);
void check_containers(const FieldPath& spec_path, const Json& spec, Causes& causes);
void check_volumes(const FieldPath& spec_path, const Json& spec, Causes& causes);
void check_probes(const FieldPath& path, const Json& container, bool init, Causes& causes);
void check_env(const FieldPath& path, const Json& container, Causes& causes);
void check_resources(const FieldPath& path, const Json& resources, Causes& causes);
void check_scheduling(const FieldPath& spec_path, const Json& spec, Causes& causes);
void check_tolerations(const FieldPath& path, const Json& tolerations, Causes& causes);

bool leads_up(std::string_view path);  // rules_volumes.cpp: has a ".." segment

// rules_core.cpp
void check_config_map(const Json& config_map, Causes& causes);
void check_config_map_update(const Json& old, const Json& config_map, Causes& causes);
void check_secret(const Json& secret, Causes& causes);
void check_secret_update(const Json& old, const Json& secret, Causes& causes);
void check_node(const Json& node, Causes& causes);
void check_lease(const Json& lease, Causes& causes);
void check_priority_class(const Json& priority_class, Causes& causes);
void check_priority_class_update(const Json& old, const Json& priority_class, Causes& causes);
void check_volume_claim(const Json& claim, Causes& causes);

// rules_event.cpp: what holds for every event; what events.k8s.io asks for beyond that.
void check_event(const Kind& kind, const Json& event, Causes& causes);
void check_new_event(const Json& event, Causes& causes);
void check_new_event_update(const Json& old, const Json& event, Causes& causes);

// rules_service.cpp
void check_service(const Json& service, Causes& causes);
void check_service_update(const Json& old, const Json& service, Causes& causes);

// rules_endpoints.cpp
void check_endpoints(const Json& endpoints, Causes& causes);
void check_endpoint_slice(const Json& slice, Causes& causes);

// rules_workload.cpp
void check_deployment(const Json& deployment, Causes& causes);
void check_replica_set(const Json& set, Causes& causes);
void check_selector_update(const Json& old, const Json& object, Causes& causes);
// Parts that jobs share: what a valid selector selects; template labels that it misses; a member of
// the spec that may not change.
bool is_valid_selector(const Json& selector);
bool selects(const Json& selector, const Json& labels);
void check_template_labels(const Json& object, Causes& causes);
void check_fixed_spec(const Json& old, const Json& object, std::string_view name, Causes& causes);

// rules_job.cpp, rules_job_status.cpp
void check_job(const Json& job, Causes& causes);
void check_job_update(const Json& old, const Json& job, Causes& causes);
void check_job_status_update(const Json& old, const Json& job, Causes& causes);

// rules_rbac.cpp
void check_role(const Kind& kind, const Json& role, Causes& causes);
void check_role_binding(const Kind& kind, const Json& binding, Causes& causes);
void check_role_binding_update(const Json& old, const Json& binding, Causes& causes);

// rules_crd.cpp
void check_crd(const Json& crd, Causes& causes);
void check_crd_update(const Json& old, const Json& crd, Causes& causes);

}  // namespace amdahl::local
