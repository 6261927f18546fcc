// What the scheduler sees and what it decides, as plain values.
//
// A ClusterView is built from caches (observe.hpp), or by a test or a simulation by hand. Order of
// its lists does not matter. Amounts: cpu in thousandths, everything else in whole units (bytes,
// slots). Plain values, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/packed_map.hpp"
#include "local/scheduler/volcano_status.hpp"
#include "operator/kube/request.hpp"
#include "operator/kube/selector.hpp"
#include "operator/kube/types_core.hpp"
#include "operator/kube/types_pod.hpp"

namespace amdahl::local::scheduling {

using kube::ObjectKey;
using Amount = std::int64_t;
using Resources = std::map<std::string, Amount>;

inline constexpr std::string_view kDefaultScheduler = "default-scheduler";
inline constexpr std::string_view kVolcanoScheduler = "volcano";
inline constexpr std::string_view kDefaultQueue = "default";

struct NodeView {
  std::string name = {};
  PackedMap labels = {};
  std::vector<kube::Taint> taints = {};
  bool unschedulable = false;
  bool ready = true;
  Resources allocatable = {};  // without "pods" the number of pods has no limit
};

struct Toleration {
  std::string key = {};  // empty with Exists: every taint
  std::string op = {};   // "Exists", or "Equal", which empty means too
  std::string value = {};
  std::string effect = {};  // empty: every effect
  bool operator==(const Toleration&) const = default;
};

// All of its requirements hold. One that cannot hold (a broken operator) makes it `never`.
struct NodeTerm {
  std::vector<kube::Requirement> labels = {};
  std::vector<kube::Requirement> fields = {};  // of "metadata.name"
  bool never = false;
};

struct PreferredNode {
  std::int32_t weight = 0;
  NodeTerm term = {};
};

// "In the same `topology_key` as a pod that matches", or apart from all of those.
struct PodTerm {
  std::vector<kube::Requirement> labels = {};
  bool never = false;                        // matches no pod
  std::vector<std::string> namespaces = {};  // resolved: never empty unless all_namespaces
  bool all_namespaces = false;
  bool unsupported = false;  // chooses namespaces by label, which this scheduler cannot
  std::string topology_key = {};
};

// The condition PodScheduled as the pod has it.
struct ScheduledCondition {
  kube::ConditionStatus status = kube::ConditionStatus::kUnknown;
  std::string reason = {};
  std::string message = {};
  bool operator==(const ScheduledCondition&) const = default;
};

struct PodView {
  ObjectKey key = {};
  std::string uid = {};
  std::string node = {};    // empty: not bound
  Resources requests = {};  // of the whole pod; see requests.hpp
  PackedMap labels = {};
  PackedMap node_selector = {};
  std::optional<std::vector<NodeTerm>> node_terms = {};  // required: one of them holds
  std::vector<PreferredNode> preferred_nodes = {};
  std::vector<PodTerm> together = {};  // required pod affinity
  std::vector<PodTerm> apart = {};     // required pod anti-affinity
  std::vector<Toleration> tolerations = {};
  std::int32_t priority = 0;
  WallTime created = {};
  std::string group = {};  // PodGroup in the same namespace; read for pods of Volcano only
  std::string task = {};   // its role in the group, for minTaskMember
  std::string queue = {};  // of a pod of Volcano without a group; empty: default
  std::string scheduler = std::string(kDefaultScheduler);
  kube::PodPhase phase = kube::PodPhase::kPending;
  bool deleting = false;
  bool gated = false;  // has scheduling gates
  std::optional<ScheduledCondition> scheduled = {};
};

struct GroupView {
  ObjectKey key = {};
  std::string uid = {};
  std::int32_t members_min = 0;
  std::map<std::string, std::int32_t> task_members_min = {};
  Resources resources_min = {};  // empty: enqueued without looking at what is free
  std::string queue = std::string(kDefaultQueue);
  std::string priority_class = {};
  WallTime created = {};
  bool deleting = false;
  GroupStatus status = {};
};

struct QueueView {
  std::string name = {};
  std::string uid = {};
  Resources capability = {};  // what is not named has no limit
  std::int32_t weight = 1;    // carried, and not used: order is by priority and age
  QueueStatus status = {};    // its state is what people set to close a queue
};

struct ClusterView {
  std::vector<NodeView> nodes = {};
  std::vector<PodView> pods = {};
  std::vector<GroupView> groups = {};
  std::vector<QueueView> queues = {};  // "default" need not be there; it is open then
  std::map<std::string, std::int32_t> priority_classes = {};
};

struct Binding {
  ObjectKey pod = {};
  std::string uid = {};
  std::string node = {};
  bool operator==(const Binding&) const = default;
};

// A pod gets the condition PodScheduled=False with this reason and message.
struct Unplaced {
  ObjectKey pod = {};
  std::string uid = {};
  std::string reason = {};
  std::string message = {};
  bool operator==(const Unplaced&) const = default;
};

struct GroupUpdate {
  ObjectKey group = {};
  std::string uid = {};
  GroupStatus status = {};
  bool operator==(const GroupUpdate&) const = default;
};

struct QueueUpdate {
  std::string queue = {};
  std::string uid = {};
  QueueStatus status = {};
  bool operator==(const QueueUpdate&) const = default;
};

// Only what differs from the view, each list sorted by name.
struct Plan {
  std::vector<Binding> bindings = {};
  std::vector<Unplaced> unplaced = {};
  std::vector<GroupUpdate> groups = {};
  std::vector<QueueUpdate> queues = {};
  bool operator==(const Plan&) const = default;
  bool empty() const {
    return bindings.empty() && unplaced.empty() && groups.empty() && queues.empty();
  }
};

}  // namespace amdahl::local::scheduling
