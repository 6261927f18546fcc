// The annotation of client-side apply, as far as server-side apply minds it.
//
// `kubectl apply --server-side` (manager "kubectl") takes over what `kubectl apply` wrote before,
// and keeps the annotation up to date so that going back works. Pure, any thread. No failures.
#pragma once

#include "local/apiserver/patch/apply.hpp"

namespace amdahl::local {

inline constexpr std::string_view kKubectlManager = "kubectl";

// Fields the last client-side apply set and nobody changed since: no conflict for kubectl.
FieldSet last_applied_fields(const FieldRules& rules, const FieldWriter& writer, const Json& live);

// Writes the configuration into the annotation of `object`, if it has one.
void refresh_last_applied(Json& object, const Json& configuration);

}  // namespace amdahl::local
