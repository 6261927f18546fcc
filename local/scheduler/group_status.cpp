#include "local/scheduler/group_status.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "local/scheduler/gang.hpp"

namespace amdahl::local::scheduling {
namespace {

using kube::ConditionStatus;

constexpr std::string_view kScheduled = "Scheduled";
constexpr std::string_view kUnschedulable = "Unschedulable";

GroupPhase phase_of(const GroupRow& group, const GangCount& count) {
  const bool enough = gang_is_ready(group, count) || count.on_node >= group.view->members_min;
  if (enough && count.on_node > 0)
    return count.on_node == count.succeeded ? GroupPhase::kCompleted : GroupPhase::kRunning;
  if (count.running > 0) return GroupPhase::kUnknown;
  return group.admitted ? GroupPhase::kInqueue : GroupPhase::kPending;
}

void set_condition(std::vector<GroupCondition>& conditions, GroupCondition next, WallTime now) {
  auto known = std::ranges::find(conditions, next.type, &GroupCondition::type);
  if (known == conditions.end()) known = conditions.insert(known, {.type = next.type});
  const bool flipped = known->status != next.status || !known->changed;
  if (!flipped && known->reason == next.reason && known->message == next.message) return;
  next.changed = known->changed;
  if (flipped) next.changed = std::chrono::floor<std::chrono::seconds>(now);
  next.transition_id = fmt::format("{:x}", now.time_since_epoch().count());
  *known = std::move(next);
}

// The other condition, once it was written, says that it no longer holds.
void clear_condition(std::vector<GroupCondition>& conditions, std::string_view type, WallTime now) {
  const auto known = std::ranges::find(conditions, type, &GroupCondition::type);
  if (known == conditions.end()) return;
  set_condition(conditions,
                {.type = std::string(type),
                 .status = ConditionStatus::kFalse,
                 .reason = known->status == ConditionStatus::kFalse ? known->reason : "Superseded"},
                now);
}

}  // namespace

GroupStatus group_status(const Board& board, Index index, WallTime now) {
  const GroupRow& group = board.groups[index];
  const GangCount count = count_gang(board, group);
  GroupStatus status = group.view->status;
  status.phase = phase_of(group, count);
  status.running = count.running;
  status.succeeded = count.succeeded;
  status.failed = count.failed;
  if (gang_is_ready(group, count) && count.ready > 0) {
    set_condition(status.conditions,
                  {.type = std::string(kScheduled),
                   .status = ConditionStatus::kTrue,
                   .reason = "tasks in gang are ready to be scheduled"},
                  now);
    clear_condition(status.conditions, kUnschedulable, now);
  } else if (!group.why.empty()) {
    const bool by_gang = group.reason == "NotEnoughResources" && group.admitted;
    set_condition(status.conditions,
                  {.type = std::string(kUnschedulable),
                   .status = ConditionStatus::kTrue,
                   .reason = group.reason,
                   .message = by_gang ? fmt::format("{}/{} tasks in gang unschedulable: {}",
                                                    group.view->members_min - count.ready,
                                                    group.members.size(), group.why)
                                      : group.why},
                  now);
    clear_condition(status.conditions, kScheduled, now);
  }
  return status;
}

}  // namespace amdahl::local::scheduling
