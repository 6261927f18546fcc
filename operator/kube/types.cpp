#include "operator/kube/types.hpp"

#include <algorithm>

namespace amdahl::kube {

const OwnerReference* controller_of(const std::vector<OwnerReference>& owners) {
  const auto owner = std::ranges::find_if(owners, &OwnerReference::controller);
  return owner == owners.end() ? nullptr : &*owner;
}

// Built-in kinds are watched as protobuf; a forgotten number would silently make that JSON.
static_assert(has_wire<Pod> && has_wire<PodSpec> && has_wire<PodStatus> && has_wire<PodCondition>);
static_assert(has_wire<ContainerStatus> && has_wire<ContainerState> &&
              has_wire<ContainerTerminated>);
static_assert(has_wire<CacheMeta> && has_wire<ObjectMeta> && has_wire<OwnerReference>);
static_assert(has_wire<Node> && has_wire<NodeStatus> && has_wire<Namespace> && has_wire<ConfigMap>);
static_assert(has_wire<Service> && has_wire<ServiceSpec> && has_wire<ServicePort>);
static_assert(has_wire<Lease> && has_wire<LeaseSpec> && has_wire<Event> && has_wire<EventSeries>);
static_assert(has_wire<Status> && has_wire<StatusDetails> && has_wire<StatusCause>);
// Custom resources have no protobuf form.
static_assert(!has_wire<PodGroup>);

}  // namespace amdahl::kube
