// Cached objects into the values schedule() reads. Pure.
//
// Failure: none; what cannot be understood is made to match nothing, so that a pod waits with a
// message rather than going where its owner did not want it.
#pragma once

#include "local/scheduler/cluster_view.hpp"
#include "local/scheduler/types.hpp"

namespace amdahl::local::scheduling {

// cpu in thousandths, everything else in whole units, rounded up.
Resources to_resources(const cached::Quantities& quantities);

// What the pod needs at its most: all containers and sidecars together, or an init container with
// the sidecars that run before it, whichever is more; and the overhead.
Resources pod_requests(const cached::PodSpec& spec);

NodeView node_view(const kube::Node& node);
PodView pod_view(const cached::Pod& pod, const std::map<std::string, std::int32_t>& priorities);
GroupView group_view(const cached::PodGroup& group);
QueueView queue_view(const cached::Queue& queue);

}  // namespace amdahl::local::scheduling
