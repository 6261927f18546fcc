// Pods that are bound to a node which does not exist: nobody would ever run or end them.
//
// What the pod garbage collector of a control plane does: such a pod fails, with the condition that
// says why, and is deleted without grace. It happens when a cluster is started with fewer nodes
// than the last time. Pods of nodes that exist and are not ours are left alone.
// Thread: one. Lifetime: client and writer outlive the call. Failure: tried again by the caller.
#pragma once

#include <chrono>

#include "local/kubelet/types_pod.hpp"
#include "operator/controller/reconciler.hpp"

namespace amdahl::local {

// A pod may be written just before its node.
inline constexpr std::chrono::seconds kOrphanAgeMin{5};

Task<Result<controller::Outcome>> clear_orphan(kube::Client& client, Pod pod,
                                               controller::Reconcile context);

}  // namespace amdahl::local
