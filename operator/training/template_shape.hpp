// Whether the parts of a template have the types that a pod has. Pure.
//
// The template is an open object to the API server, which stores any JSON there. A null member is
// an absent one, as in a pod. Failure: none.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/fields.hpp"

namespace amdahl::training {

// "spec.template.spec.containers[0].image: must be a string, is a number"; nullopt: all fit.
std::optional<std::string> shape_fault(const Json& pod_template);

}  // namespace amdahl::training
