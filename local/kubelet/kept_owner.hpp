// Asks the API server about the object that kept logs belong to.
//
// Thread: one. Lifetime: the client outlives the task. Failure: none; an owner that nobody can tell
// anything about is not gone, and its newest attempt is unknown.
#pragma once

#include "base/task.hpp"
#include "local/kubelet/kept_logs.hpp"
#include "operator/kube/discovery.hpp"

namespace amdahl::local {

Task<OwnerSeen> look_at_owner(kube::Client& client, kube::Discovery& discovery, KeptOwner owner);

}  // namespace amdahl::local
