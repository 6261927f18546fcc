// What kube-apiserver 1.34 fills into the built-in kinds when it reads one.
//
// Pure functions that change the object in place. The object has passed decode(); what has an
// unexpected shape is left alone. Applying them twice changes nothing more. Custom resources are
// untouched: their defaults are in their schema.
#pragma once

#include <nlohmann/json.hpp>

#include "local/apiserver/kinds/kind.hpp"

namespace amdahl::local {

void apply_defaults(const Kind& kind, Json& object);

// The parts, each in the file of its family.
void default_pod(Json& pod);            // defaults_pod.cpp
void default_pod_template(Json& spec);  // a "template" member inside spec
void default_service(Json& service);    // defaults_core.cpp
void default_secret(Json& secret);
void default_namespace(Json& ns);
void default_volume_claim(Json& claim);
void default_volume(Json& volume);
void default_endpoints(Json& endpoints);
void default_endpoint_slice(Json& slice);
void default_deployment(Json& deployment);  // defaults_workload.cpp
void default_replica_set(Json& set);
void default_job(Json& job);
void default_role_binding(Json& binding);
void default_crd(Json& crd);

}  // namespace amdahl::local
