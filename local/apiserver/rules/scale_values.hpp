// Whether the numbers of a custom resource can be shown as a Scale, in the words of Kubernetes.
//
// Pure; any thread. Failure is the result. A value that is missing is no failure: it counts as 0.
#pragma once

#include <vector>

#include "local/apiserver/kinds/kind.hpp"
#include "local/apiserver/model/cause.hpp"

namespace amdahl::local {

std::vector<Cause> scale_spec_causes(const ScalePaths& paths, const Json& object);
std::vector<Cause> scale_status_causes(const ScalePaths& paths, const Json& object);

}  // namespace amdahl::local
