// What prepare.cpp does for single kinds.
//
// Pure functions that change the object in place; see builtin_rules.hpp.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace amdahl::local {

using Json = nlohmann::json;

void prepare_pod(Json& pod);  // prepare_pod.cpp
void add_default_tolerations(Json& pod);
// What admission gave the pod, and an update that leaves it out does not take away.
void keep_admitted(const Json& old, Json& pod);
void keep_pod_status(const Json& old, Json& pod);
std::string qos_class(const Json& pod);  // "Guaranteed", "Burstable" or "BestEffort"

void prepare_service(Json& service);  // prepare_kinds.cpp
void keep_allocated(const Json& old, Json& service);
void prepare_namespace(Json& ns);
void prepare_node(Json& node);
void prepare_volume_claim(Json& claim);
void prepare_volume(Json& volume);
void prepare_deployment(Json& deployment);
void prepare_replica_set(Json& set);
void prepare_job(Json& job);
void prepare_crd(Json& crd);

}  // namespace amdahl::local
