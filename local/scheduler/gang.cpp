#include "local/scheduler/gang.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "local/scheduler/fit.hpp"

namespace amdahl::local::scheduling {
namespace {

constexpr Amount kShares = 10'000;  // of the cluster; fine enough to tell large from small

// What a try to place a gang came to. Tries that fail leave the board as it was.
struct Attempt {
  bool placed = false;
  std::size_t fitting = 0;        // members that found a node
  std::string first_misfit = {};  // "name: 0/3 nodes are available: ..."
};

// Tasks that are short of members come first, so that the others do not take their places.
std::vector<Index> by_need(const Board& board, const GroupRow& group, const GangCount& count) {
  std::map<std::string, std::int32_t> missing = group.view->task_members_min;
  for (auto& [task, number] : missing)
    if (const auto ready = count.ready_of_task.find(task); ready != count.ready_of_task.end())
      number -= ready->second;
  std::vector<Index> order;
  std::vector<Index> others;
  for (const Index pod : count.waiting) {
    const auto task = missing.find(board.pods[pod].view->task);
    const bool needed = task != missing.end() && task->second-- > 0;
    (needed ? order : others).push_back(pod);
  }
  order.insert(order.end(), others.begin(), others.end());
  return order;
}

// Large ones first: small ones fit into what is left more often than the other way round.
std::vector<Index> by_size(const Board& board, std::vector<Index> order) {
  const auto share = [&](Index pod) {
    Amount most = 0;
    for (const Want& want : board.pods[pod].wants)
      most =
          std::max(most, want.amount * kShares / std::max<Amount>(board.total[want.resource], 1));
    return -most;
  };
  std::vector<std::tuple<Amount, std::size_t, Index>> ranked;
  ranked.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) ranked.emplace_back(share(order[i]), i, order[i]);
  std::ranges::sort(ranked);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = std::get<Index>(ranked[i]);
  return order;
}

Attempt try_in_order(Board& board, Index index, const std::vector<Index>& order) {
  const GroupRow& group = board.groups[index];
  Attempt attempt;
  std::vector<Index> placed;
  for (const Index pod : order) {
    std::string why;
    const auto node =
        choose_node(board, board.pods[pod], attempt.first_misfit.empty() ? &why : nullptr);
    if (node) {
      board.place(pod, *node);
      placed.push_back(pod);
    } else if (attempt.first_misfit.empty()) {
      attempt.first_misfit = fmt::format("{}: {}", board.pods[pod].view->key.name, why);
    }
  }
  attempt.fitting = placed.size();
  attempt.placed = gang_is_ready(group, count_gang(board, group));
  if (!attempt.placed)
    for (const Index pod : placed) board.take_back(pod);
  return attempt;
}

std::string counted(const GangCount& count, std::int32_t members_min) {
  std::string text = "pod group is not ready";
  const auto add = [&](std::int64_t number, std::string_view what) {
    if (number > 0) text += fmt::format(", {} {}", number, what);
  };
  add(count.ready - count.running - count.succeeded, "Bound");
  add(count.running, "Running");
  add(count.succeeded, "Succeeded");
  add(count.failed, "Failed");
  add(static_cast<std::int64_t>(count.waiting.size()), "Pending");
  return text + fmt::format(", {} minAvailable", members_min);
}

// What cannot work because members do not exist; empty: there are enough.
std::pair<std::string, std::string> too_few(const Board& board, const GroupRow& group,
                                            const GangCount& count) {
  const auto valid = count.ready + static_cast<std::int32_t>(count.waiting.size());
  if (valid < group.view->members_min)
    return {"NotEnoughTasks",
            fmt::format("Not enough valid tasks for gang-scheduling, valid: {}, min: {}", valid,
                        group.view->members_min)};
  for (const auto& [task, members_min] : group.view->task_members_min) {
    const auto ready = count.ready_of_task.find(task);
    const auto waiting = std::ranges::count_if(
        count.waiting, [&](Index pod) { return board.pods[pod].view->task == task; });
    const auto of_task = (ready == count.ready_of_task.end() ? 0 : ready->second) + waiting;
    if (of_task < members_min)
      return {"NotEnoughPodsOfTask",
              fmt::format("Not enough valid pods of each task for gang-scheduling, task {}: "
                          "valid: {}, min: {}",
                          task, of_task, members_min)};
  }
  return {};
}

void explain(Board& board, GroupRow& group, const GangCount& count, const std::string& reason,
             const std::string& why) {
  group.reason = reason;
  group.why = why;
  for (const Index pod : count.waiting) board.pods[pod].why = why;
}

bool place_whole(Board& board, Index index, const GangCount& count) {
  GroupRow& group = board.groups[index];
  if (const auto [reason, why] = too_few(board, group, count); !why.empty()) {
    explain(board, group, count, reason, why);
    return false;
  }
  const std::vector<Index> order = by_need(board, group, count);
  Attempt attempt = try_in_order(board, index, order);
  if (!attempt.placed) {
    const std::vector<Index> sized = by_size(board, order);
    if (sized != order && try_in_order(board, index, sized).placed) attempt.placed = true;
  }
  if (attempt.placed) return true;
  explain(
      board, group, count, "NotEnoughResources",
      fmt::format("{}; Pending: {} Unschedulable, {} Schedulable. Origin reason is {}",
                  counted(count, group.view->members_min), count.waiting.size() - attempt.fitting,
                  attempt.fitting, attempt.first_misfit));
  return false;
}

bool place_one(Board& board, Index pod) {
  std::string why;
  const auto node = choose_node(board, board.pods[pod], &why);
  board.pods[pod].why = std::move(why);
  if (node) board.place(pod, *node);
  return node.has_value();
}

}  // namespace

GangCount count_gang(const Board& board, const GroupRow& group) {
  GangCount count;
  for (const Index index : group.members) {
    const PodRow& pod = board.pods[index];
    const kube::PodPhase phase = pod.view->phase;
    if (phase == kube::PodPhase::kFailed) ++count.failed;
    if (phase == kube::PodPhase::kSucceeded) ++count.succeeded;
    if (phase == kube::PodPhase::kRunning) ++count.running;
    const bool succeeded = phase == kube::PodPhase::kSucceeded;
    if (holds(pod) || succeeded) ++count.on_node;
    if (succeeded || (holds(pod) && !pod.view->deleting)) {
      ++count.ready;
      ++count.ready_of_task[pod.view->task];
    }
    if (waits(pod)) count.waiting.push_back(index);
  }
  std::ranges::sort(count.waiting, {}, [&](Index pod) {
    return std::pair(-std::int64_t{board.pods[pod].view->priority}, pod);
  });
  return count;
}

bool gang_is_ready(const GroupRow& group, const GangCount& count) {
  if (count.ready < group.view->members_min) return false;
  return std::ranges::all_of(group.view->task_members_min, [&](const auto& task) {
    const auto ready = count.ready_of_task.find(task.first);
    return (ready == count.ready_of_task.end() ? 0 : ready->second) >= task.second;
  });
}

bool has_lapsed(const Board& board, const GroupRow& group) {
  if (group.view->status.phase == GroupPhase::kInqueue) return false;
  const GangCount count = count_gang(board, group);
  return count.running == 0 && count.on_node < group.view->members_min;
}

bool place_gang(Board& board, Index index) {
  GroupRow& group = board.groups[index];
  const GangCount count = count_gang(board, group);
  if (group.view->deleting) {
    explain(board, group, count, "PodGroupDeleted",
            fmt::format("pod group {} is being deleted", kube::to_string(group.view->key)));
    return false;
  }
  if (!group.admitted) {
    for (const Index pod : count.waiting) board.pods[pod].why = group.why;
    return false;
  }
  group.reason.clear();
  group.why.clear();
  if (!gang_is_ready(group, count)) return place_whole(board, index, count);
  bool changed = false;
  for (const Index pod : count.waiting) changed = place_one(board, pod) || changed;
  return changed;
}

bool place_single(Board& board, Index pod) {
  const PodView& view = *board.pods[pod].view;
  if (view.scheduler == kVolcanoScheduler && !view.group.empty()) {
    board.pods[pod].why = fmt::format("pod group {}/{} does not exist", view.key.ns, view.group);
    return false;
  }
  return place_one(board, pod);
}

}  // namespace amdahl::local::scheduling
