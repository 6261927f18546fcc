// The status of Volcano's PodGroup and Queue (scheduling.volcano.sh/v1beta1), which a scheduler
// reads and writes. Plain values with field tables.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/fields.hpp"
#include "operator/kube/quantity.hpp"
#include "operator/kube/types_meta.hpp"

namespace amdahl::local::scheduling {

// kNone: nobody has written a phase yet, which means the same as Pending.
enum class GroupPhase : std::uint8_t { kNone, kPending, kInqueue, kRunning, kUnknown, kCompleted };
constexpr auto enum_names(GroupPhase) {
  return std::to_array<EnumName<GroupPhase>>({{GroupPhase::kNone, ""},
                                              {GroupPhase::kPending, "Pending"},
                                              {GroupPhase::kInqueue, "Inqueue"},
                                              {GroupPhase::kRunning, "Running"},
                                              {GroupPhase::kUnknown, "Unknown"},
                                              {GroupPhase::kCompleted, "Completed"}});
}
constexpr GroupPhase enum_unknown(GroupPhase) {
  return GroupPhase::kNone;
}

struct GroupCondition {
  std::string type = {};  // "Scheduled" or "Unschedulable"
  kube::ConditionStatus status = kube::ConditionStatus::kUnknown;
  std::string transition_id = {};  // of the pass that wrote the condition
  std::optional<WallTime> changed = {};
  std::string reason = {};
  std::string message = {};
  bool operator==(const GroupCondition&) const = default;
};
template <class V>
constexpr void fields(V& v, GroupCondition& condition) {
  v.optional("type", condition.type);
  v.optional("status", condition.status);
  v.optional("transitionID", condition.transition_id);
  v.optional("lastTransitionTime", condition.changed);
  v.optional("reason", condition.reason);
  v.optional("message", condition.message);
}

struct GroupStatus {
  GroupPhase phase = GroupPhase::kNone;
  std::vector<GroupCondition> conditions = {};
  std::int32_t running = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  bool operator==(const GroupStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, GroupStatus& status) {
  v.optional("phase", status.phase);
  v.optional("conditions", status.conditions);
  v.optional("running", status.running);
  v.optional("succeeded", status.succeeded);
  v.optional("failed", status.failed);
}

// kNone: nobody has written a state yet, which means the same as Open.
enum class QueueState : std::uint8_t { kNone, kOpen, kClosing, kClosed, kUnknown };
constexpr auto enum_names(QueueState) {
  return std::to_array<EnumName<QueueState>>({{QueueState::kNone, ""},
                                              {QueueState::kOpen, "Open"},
                                              {QueueState::kClosing, "Closing"},
                                              {QueueState::kClosed, "Closed"},
                                              {QueueState::kUnknown, "Unknown"}});
}
constexpr QueueState enum_unknown(QueueState) {
  return QueueState::kUnknown;
}

struct QueueStatus {
  QueueState state = QueueState::kNone;
  std::int32_t pending = 0;  // groups in each phase
  std::int32_t inqueue = 0;
  std::int32_t running = 0;
  std::int32_t unknown = 0;
  std::int32_t completed = 0;
  std::optional<std::map<std::string, kube::Quantity>> allocated = {};  // none: never written
  bool operator==(const QueueStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, QueueStatus& status) {
  v.optional("state", status.state);
  v.optional("pending", status.pending);
  v.optional("inqueue", status.inqueue);
  v.optional("running", status.running);
  v.optional("unknown", status.unknown);
  v.optional("completed", status.completed);
  v.optional("allocated", status.allocated);
}

}  // namespace amdahl::local::scheduling
