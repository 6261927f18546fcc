// Which kind a word of the command line means: "po", "pod", "pods", "Pod", "deployments.apps".
//
// Asks the server's discovery, the core group first, as kubectl does. Thread: one. Failure:
// Errc::kNotFound for a word that no kind answers to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/kube/discovery.hpp"

namespace amdahl::cli {

Task<Result<kube::Resource>> find_resource(kube::Discovery& discovery, std::string word);

// "configmap", "deployment.apps": what stands before the slash in "configmap/greeting".
std::string kind_word(const kube::Resource& resource);

struct Target {
  std::string type = {};                // as it was written
  std::vector<std::string> names = {};  // empty: all
};
// "pods", "pods a b", "pods,services", "pod/a service/b".
Result<std::vector<Target>> parse_targets(const std::vector<std::string>& words);

}  // namespace amdahl::cli
