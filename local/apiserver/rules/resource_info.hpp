// What the verbs must know of a kind that its discovery does not say: Kubernetes' storage habits.
//
// Pure; a value for each kind.
#pragma once

#include "local/apiserver/core/kind_rules.hpp"
#include "local/apiserver/kinds/kind.hpp"

namespace amdahl::local {

ResourceInfo resource_info(const Kind& kind);

}  // namespace amdahl::local
