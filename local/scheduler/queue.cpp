#include "local/scheduler/queue.hpp"

#include <fmt/format.h>

namespace amdahl::local::scheduling {
namespace {

// Of the nodes' resources, in addition to them: groups that wait inside are ready when some end.
constexpr Amount kOvercommitFraction = 5;  // 1/5 more

std::string amount_text(const Board& board, Index resource, Amount amount) {
  return quantity_of(board.resource_name(resource), amount).to_string();
}

std::string over_capability(const Board& board, const QueueRow& queue, const Want& want,
                            Amount taken) {
  return fmt::format(
      "queue {} is at its capability of {} {}: {} allocated or promised, {} asked for", queue.name,
      amount_text(board, want.resource, *queue.limit[want.resource]),
      board.resource_name(want.resource), amount_text(board, want.resource, taken),
      amount_text(board, want.resource, want.amount));
}

std::string queue_closed(const QueueRow& queue) {
  if (!queue.exists())
    return fmt::format("queue {} does not exist: create it, or name another", queue.name);
  // Without its state, which this very pass may turn from Closed to Closing.
  return fmt::format("queue {} is not open: nothing new is let in", queue.name);
}

// Why what the group needs at least cannot be promised; empty: it can.
std::string no_promise(const Board& board, const GroupRow& group) {
  const QueueRow& queue = board.queues[group.queue];
  for (const Want& want : group.resources_min) {
    const Index i = want.resource;
    const Amount taken = queue.allocated[i] + queue.reserved[i];
    if (queue.limit[i] && taken + want.amount > *queue.limit[i])
      return over_capability(board, queue, want, taken);
    const Amount promised = board.used[i] + board.reserved[i];
    if (promised + want.amount > board.total[i] + board.total[i] / kOvercommitFraction)
      return fmt::format("the cluster has {} {}: {} used or promised, {} asked for",
                         amount_text(board, i, board.total[i]), board.resource_name(i),
                         amount_text(board, i, promised), amount_text(board, i, want.amount));
  }
  return {};
}

}  // namespace

kube::Quantity quantity_of(std::string_view resource, Amount amount) {
  if (resource == "cpu") return kube::Quantity::from_milli(amount);
  const bool bytes =
      resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
  return kube::Quantity::from_integer(
      amount, bytes ? kube::Quantity::Format::kBinarySi : kube::Quantity::Format::kDecimalSi);
}

bool enqueue(Board& board, Index index) {
  GroupRow& group = board.groups[index];
  if (group.admitted || group.view->deleting) return false;
  const QueueRow& queue = board.queues[group.queue];
  if (!queue.exists() || !queue.open()) {
    group.reason = "QueueNotOpen";
    group.why = queue_closed(queue);
    return false;
  }
  group.why = no_promise(board, group);
  group.reason = group.why.empty() ? "" : "NotEnoughResources";
  if (!group.why.empty()) return false;
  board.admit(index);
  return true;
}

std::string queue_refuses(const Board& board, const PodRow& pod) {
  if (pod.queue == kNoIndex) return {};
  const QueueRow& queue = board.queues[pod.queue];
  // The members of a group came in by enqueue().
  if (pod.group == kNoIndex && (!queue.exists() || !queue.open())) return queue_closed(queue);
  for (const Want& want : pod.wants) {
    const auto& limit = queue.limit[want.resource];
    const Amount taken = queue.allocated[want.resource];
    if (limit && taken + want.amount > *limit) return over_capability(board, queue, want, taken);
  }
  return {};
}

QueueStatus queue_status(const Board& board, Index index, const std::vector<GroupPhase>& phases) {
  const QueueRow& queue = board.queues[index];
  QueueStatus status;
  for (std::size_t i = 0; i < board.groups.size(); ++i) {
    if (board.groups[i].queue != index) continue;
    if (phases[i] == GroupPhase::kPending) ++status.pending;
    if (phases[i] == GroupPhase::kInqueue) ++status.inqueue;
    if (phases[i] == GroupPhase::kRunning) ++status.running;
    if (phases[i] == GroupPhase::kUnknown) ++status.unknown;
    if (phases[i] == GroupPhase::kCompleted) ++status.completed;
  }
  const bool empty =
      status.pending + status.inqueue + status.running + status.unknown + status.completed == 0;
  // Closing: closed by somebody, with groups still in it.
  status.state = queue.open() ? QueueState::kOpen
                 : empty      ? QueueState::kClosed
                              : QueueState::kClosing;
  auto& allocated = status.allocated.emplace();
  for (Index i = 0; i < board.resources(); ++i)
    if (queue.allocated[i] > 0)
      allocated.emplace(board.resource_name(i),
                        quantity_of(board.resource_name(i), queue.allocated[i]));
  return status;
}

}  // namespace amdahl::local::scheduling
