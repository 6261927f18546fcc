// scheduling.volcano.sh/v1beta1 PodGroup: pods that are placed together or not at all. JSON only,
// as every custom resource.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/kube/quantity.hpp"
#include "operator/kube/types_meta.hpp"

namespace amdahl::kube {

inline const Resource kPodGroups{.group = "scheduling.volcano.sh",
                                 .version = "v1beta1",
                                 .plural = "podgroups",
                                 .kind = "PodGroup"};

enum class PodGroupPhase : std::uint8_t { kUnknown, kPending, kInqueue, kRunning, kCompleted };
constexpr auto enum_names(PodGroupPhase) {
  return std::to_array<EnumName<PodGroupPhase>>({{PodGroupPhase::kUnknown, "Unknown"},
                                                 {PodGroupPhase::kPending, "Pending"},
                                                 {PodGroupPhase::kInqueue, "Inqueue"},
                                                 {PodGroupPhase::kRunning, "Running"},
                                                 {PodGroupPhase::kCompleted, "Completed"}});
}
constexpr PodGroupPhase enum_unknown(PodGroupPhase) {
  return PodGroupPhase::kUnknown;
}

struct NetworkTopology {
  std::string mode = {};  // "hard" or "soft"
  std::optional<std::int32_t> highest_tier_allowed = {};
  bool operator==(const NetworkTopology&) const = default;
};
template <class V>
constexpr void fields(V& v, NetworkTopology& topology) {
  v.optional("mode", topology.mode);
  v.optional("highestTierAllowed", topology.highest_tier_allowed);
}

struct PodGroupSpec {
  std::int32_t members_min = 0;
  std::string queue = {};
  std::string priority_class = {};
  std::map<std::string, Quantity> resources_min = {};
  std::optional<NetworkTopology> network_topology = {};
  bool operator==(const PodGroupSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, PodGroupSpec& spec) {
  v.optional("minMember", spec.members_min);
  v.optional("queue", spec.queue);
  v.optional("priorityClassName", spec.priority_class);
  v.optional("minResources", spec.resources_min);
  v.optional("networkTopology", spec.network_topology);
}

struct PodGroupStatus {
  PodGroupPhase phase = PodGroupPhase::kUnknown;
  std::vector<Condition> conditions = {};
  std::int32_t running = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  bool operator==(const PodGroupStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, PodGroupStatus& status) {
  v.optional("phase", status.phase);
  v.optional("conditions", status.conditions);
  v.optional("running", status.running);
  v.optional("succeeded", status.succeeded);
  v.optional("failed", status.failed);
}

struct PodGroup {
  ObjectMeta metadata = {};
  PodGroupSpec spec = {};
  PodGroupStatus status = {};
  bool operator==(const PodGroup&) const = default;
  static const Resource& resource() { return kPodGroups; }
};
template <class V>
constexpr void fields(V& v, PodGroup& group) {
  v.required("metadata", group.metadata);
  v.optional("spec", group.spec);
  v.optional("status", group.status);
}

}  // namespace amdahl::kube
