// What the API server does with an object between reading and storing it: what a writer may not
// set is put right, then the rules are checked.
//
// Pure functions. The object has passed decode() and apply_defaults() (built-in kinds) or its
// schema (custom resources), and its metadata has name, namespace, uid and creationTimestamp before
// prepare_create. Failure: the causes of HTTP 422, as kube-apiserver 1.34 words them, at most
// kRuleCausesMax; empty means valid.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "local/apiserver/kinds/kind.hpp"
#include "local/apiserver/model/cause.hpp"

namespace amdahl::local {

inline constexpr std::size_t kRuleCausesMax = 100;

// Generation 1, no status of the writer's own, and what admission adds (tolerations, priority,
// finalizers, a job's selector). Not done here, because it needs more than the object: a pod's
// priority from its class (an absent one becomes 0), a service's cluster address and node ports.
void prepare_create(const Kind& kind, Json& object);
// An update of the object itself: status stays, generation follows the desired state.
void prepare_update(const Kind& kind, const Json& old, Json& object);
// An update through the status subresource: everything but the status stays.
void prepare_status_update(const Kind& kind, const Json& old, Json& object);

std::vector<Cause> validate_create(const Kind& kind, const Json& object);
std::vector<Cause> validate_update(const Kind& kind, const Json& old, const Json& object);
std::vector<Cause> validate_status_update(const Kind& kind, const Json& old, const Json& object);

// Rules of metadata that hold for every kind; part of the functions above.
std::vector<Cause> validate_meta(const Kind& kind, const Json& object);
std::vector<Cause> validate_meta_update(const Kind& kind, const Json& old, const Json& object);

// Texts about finalizers of a custom resource that are new and too short to belong to somebody.
std::vector<std::string> finalizer_warnings(const Json& old, const Json& object);

// The status of a CustomResourceDefinition whose names were accepted: NamesAccepted and Established
// are true since `time` (RFC 3339), the storage version is among the stored ones.
void establish_crd(Json& crd, std::string_view time);

}  // namespace amdahl::local
