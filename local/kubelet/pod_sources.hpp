// Fetches what a pod refers to: config maps, secrets, tokens of its service account.
//
// Thread: one. Lifetime: the client outlives the task. Failure: see client.hpp; what is not there
// is left out, and whoever needs it says so.
#pragma once

#include "base/task.hpp"
#include "local/kubelet/command.hpp"
#include "operator/kube/client.hpp"

namespace amdahl::local {

// For whom: tokens are bound to the pod and end with it.
struct SourceReader {
  std::string ns = {};
  std::string account = {};
  std::string pod = {};
  std::string pod_uid = {};
};

Task<Result<Sources>> fetch_sources(kube::Client& client, SourceReader reader, SourceNames names);

}  // namespace amdahl::local
