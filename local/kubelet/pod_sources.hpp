// Fetches what a pod refers to: config maps, secrets, tokens of its service account.
//
// Thread: one. Lifetime: the client outlives the task. Failure: see client.hpp; what is not there
// is left out, and whoever needs it says so.
#pragma once

#include "base/task.hpp"
#include "local/kubelet/command.hpp"
#include "operator/kube/client.hpp"

namespace amdahl::local {

Task<Result<Sources>> fetch_sources(kube::Client& client, std::string ns, std::string account,
                                    SourceNames names);

}  // namespace amdahl::local
