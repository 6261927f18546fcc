#include "local/scheduler/schedule.hpp"

#include <algorithm>
#include <tuple>

#include "local/scheduler/board.hpp"
#include "local/scheduler/gang.hpp"
#include "local/scheduler/group_status.hpp"
#include "local/scheduler/queue.hpp"

namespace amdahl::local::scheduling {
namespace {

constexpr std::string_view kUnschedulable = "Unschedulable";

// A gang, or a pod without one: what is placed in one go.
struct Unit {
  std::int32_t priority = 0;
  WallTime created = {};
  const ObjectKey* key = nullptr;
  Index group = kNoIndex;
  Index pod = kNoIndex;

  bool operator<(const Unit& other) const {
    return std::tie(other.priority, created, *key, group, pod) <
           std::tie(priority, other.created, *other.key, other.group, other.pod);
  }
};

std::vector<Unit> units_in_order(const Board& board) {
  std::vector<Unit> units;
  for (Index i = 0; i < board.groups.size(); ++i) {
    const GroupRow& group = board.groups[i];
    units.push_back({.priority = group.priority,
                     .created = group.view->created,
                     .key = &group.view->key,
                     .group = i});
  }
  for (Index i = 0; i < board.pods.size(); ++i) {
    const PodRow& pod = board.pods[i];
    if (pod.group == kNoIndex && waits(pod))
      units.push_back({.priority = pod.view->priority,
                       .created = pod.view->created,
                       .key = &pod.view->key,
                       .pod = i});
  }
  std::sort(units.begin(), units.end());
  return units;
}

// Every unit once, the most important first; false: nothing changed.
bool play_round(Board& board, const std::vector<Unit>& units) {
  bool changed = false;
  for (const Unit& unit : units) {
    if (unit.group != kNoIndex) {
      changed = enqueue(board, unit.group) || changed;
      changed = place_gang(board, unit.group) || changed;
    } else if (waits(board.pods[unit.pod])) {
      changed = place_single(board, unit.pod) || changed;
    }
  }
  return changed;
}

void plan_pods(const Board& board, Plan& plan) {
  for (const PodRow& pod : board.pods) {
    const PodView& view = *pod.view;
    if (pod.planned) {
      plan.bindings.push_back(
          {.pod = view.key, .uid = view.uid, .node = board.nodes[pod.node].view->name});
    } else if (waits(pod) && !pod.why.empty()) {
      const ScheduledCondition wanted{.status = kube::ConditionStatus::kFalse,
                                      .reason = std::string(kUnschedulable),
                                      .message = pod.why};
      if (view.scheduled != wanted)
        plan.unplaced.push_back(
            {.pod = view.key, .uid = view.uid, .reason = wanted.reason, .message = wanted.message});
    }
  }
}

void plan_groups(const Board& board, WallTime now, Plan& plan) {
  std::vector<GroupPhase> phases;
  for (Index i = 0; i < board.groups.size(); ++i) {
    const GroupView& view = *board.groups[i].view;
    GroupStatus status = group_status(board, i, now);
    phases.push_back(status.phase);
    if (status != view.status)
      plan.groups.push_back({.group = view.key, .uid = view.uid, .status = std::move(status)});
  }
  for (Index i = 0; i < board.queues.size(); ++i) {
    const QueueView* view = board.queues[i].view;
    if (view == nullptr) continue;
    QueueStatus status = queue_status(board, i, phases);
    if (status != view->status)
      plan.queues.push_back({.queue = view->name, .uid = view->uid, .status = std::move(status)});
  }
}

}  // namespace

Plan schedule(const ClusterView& seen, WallTime now) {
  Board board(seen);
  const std::vector<Unit> units = units_in_order(board);
  for (std::size_t round = 0; round < kRoundsMax && play_round(board, units); ++round) {
  }
  Plan plan;
  plan_pods(board, plan);
  plan_groups(board, now, plan);
  return plan;
}

}  // namespace amdahl::local::scheduling
