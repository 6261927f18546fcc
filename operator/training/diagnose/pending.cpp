#include "operator/training/diagnose/pending.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "operator/api/fit_status.hpp"
#include "operator/training/diagnose/across_ranks.hpp"
#include "operator/training/diagnose/consequence.hpp"
#include "operator/training/diagnose/failure_text.hpp"
#include "operator/training/diagnose/pending_room.hpp"

namespace amdahl::training {
namespace {

using api::CauseClass;
using api::PendingStatus;
using Explained = std::optional<PendingStatus>;

constexpr std::size_t kSchedulerMessagesMax = 2;  // different ones that are told

PendingStatus say(std::string_view reason, const std::string& message) {
  return {.reason = std::string(reason), .message = api::fit_text(message, api::kMessageMax)};
}

kube::Quantity of(const Quantities& amounts, const std::string& name) {
  const auto row = amounts.find(name);
  return row == amounts.end() ? kube::Quantity{} : row->second;
}

std::string without_stop(std::string text) {
  while (text.ends_with('.')) text.pop_back();
  return text;
}

Explained pods_refused(const PendingEvidence& seen) {
  if (!seen.refusal) return std::nullopt;
  const std::string words = without_stop(clean_line(seen.refusal->message, api::kMessageMax / 2));
  const std::string asked = amounts_text(multiply(seen.per_pod, seen.ranks));
  if (seen.refusal->quota)
    return say(
        pending::kQuotaExceeded,
        fmt::format("the API server refused a pod: {}. The gang asks for {}. Free some of the "
                    "namespace's quota, raise it, or ask for less.",
                    words, asked));
  return say(pending::kPodsRefused,
             fmt::format("the API server refused a part of the gang: {}. Change the spec, or "
                         "the policy or right that it names.",
                         words));
}

Explained queue_unusable(const PendingEvidence& seen) {
  if (seen.queue_name.empty() || !seen.queue) return std::nullopt;
  if (!seen.queue->exists)
    return say(pending::kQueueMissing,
               fmt::format("queue {} does not exist. Create it, or name another in "
                           "spec.scheduling.queue.",
                           seen.queue_name));
  if (!seen.queue->open)
    return say(
        pending::kQueueClosed,
        fmt::format("queue {} is {} and admits nothing. Open it, or name another in "
                    "spec.scheduling.queue.",
                    seen.queue_name, seen.queue->state.empty() ? "Closed" : seen.queue->state));
  return std::nullopt;
}

// "asks for 16 nvidia.com/gpu, 8 of 20 are used": one resource after the other.
std::string over_text(const Quantities& over, const QueueEvidence& queue) {
  std::string text;
  for (const auto& [name, asked] : over)
    text += fmt::format("{}{} {} asked, {} of {} used", text.empty() ? "" : "; ", asked.to_string(),
                        name, of(queue.allocated, name).to_string(),
                        of(queue.capability, name).to_string());
  return text;
}

Explained queue_too_small(const PendingEvidence& seen) {
  if (seen.queue_name.empty() || !seen.queue) return std::nullopt;
  const Quantities asked = multiply(seen.per_pod, seen.ranks);
  const Quantities never = beyond(asked, {}, seen.queue->capability);
  if (never.empty()) return std::nullopt;
  return say(pending::kQueueTooSmall,
             fmt::format("the gang can never fit queue {}: {}. Ask for less, or raise the queue's "
                         "capability.",
                         seen.queue_name, over_text(never, *seen.queue)));
}

bool all_bound(const PendingEvidence& seen) {
  const auto bound = std::ranges::count_if(seen.pods, &PodEvidence::bound);
  return seen.ranks > 0 && bound >= seen.ranks;
}

Explained queue_full(const PendingEvidence& seen) {
  if (seen.queue_name.empty() || !seen.queue || all_bound(seen)) return std::nullopt;
  const auto bound = std::ranges::count_if(seen.pods, &PodEvidence::bound);
  const Quantities asked = multiply(seen.per_pod, seen.ranks - bound);
  const Quantities over = beyond(asked, seen.queue->allocated, seen.queue->capability);
  if (over.empty()) return std::nullopt;
  return say(pending::kQueueFull,
             fmt::format("queue {} is full: {}. It starts when other jobs of the queue end.",
                         seen.queue_name, over_text(over, *seen.queue)));
}

// Images, secrets, volumes: what the diagnosis of each pod finds while nothing has ended.
Explained containers_waiting(const PendingEvidence& seen) {
  const AttemptEvidence attempt{.ranks = seen.ranks};
  std::vector<std::int32_t> ranks;
  std::optional<Finding> first;
  for (const PodEvidence& pod : seen.pods) {
    const auto finding = examine(facts_of(attempt, pod));
    if (!finding || finding->over) continue;
    const bool waits = finding->cause_class == CauseClass::kImageNotFound ||
                       finding->cause_class == CauseClass::kImagePullDenied ||
                       finding->cause_class == CauseClass::kImagePullFailed ||
                       finding->cause_class == CauseClass::kConfigurationMissing;
    if (!waits || (first && first->cause_class != finding->cause_class)) continue;
    if (!first) first = finding;
    ranks.push_back(pod.rank);
  }
  if (!first) return std::nullopt;
  const bool image = first->cause_class != CauseClass::kConfigurationMissing;
  const std::string_view hint = consequence_of(first->cause_class).hint;
  return say(image ? pending::kImage : pending::kConfiguration,
             fmt::format("rank {}: {}. {}", rank_list(ranks), without_stop(first->message), hint));
}

// The enqueue action compares minResources with what the cluster has free, and lets pods of the
// group be scheduled only then.
Explained held_by_enqueue(const PendingEvidence& seen) {
  if (!seen.group || seen.group->inqueue || seen.group->resources_min.empty()) return std::nullopt;
  Quantities free;
  for (const NodeRoom& node : seen.nodes)
    if (node.schedulable)
      for (const auto& [name, amount] : node.free) free[name] += amount;
  const std::string asked = amounts_text(seen.group->resources_min);
  std::string text =
      fmt::format("the PodGroup is held by enqueue: minResources asks for {}", asked);
  if (!seen.nodes.empty()) {
    Quantities there;
    for (const auto& row : seen.group->resources_min) there.emplace(row.first, of(free, row.first));
    text += fmt::format(", the nodes have at most {} free", amounts_text(there));
  }
  return say(pending::kHeldByEnqueue,
             text +
                 ". It waits for other jobs to end; on a cluster that scales up, set "
                 "spec.scheduling.admission to Autoscaled.");
}

// The node that has most of what runs out first, for the figure.
std::string largest_text(const PendingEvidence& seen) {
  Quantities most;
  for (const NodeRoom& node : seen.nodes)
    for (const auto& [name, amount] : node.whole)
      if (node.suitable && seen.per_pod.contains(name)) most[name] = std::max(most[name], amount);
  for (const auto& [name, asked] : seen.per_pod) most.try_emplace(name);
  return amounts_text(most);
}

// Counted with nodes as they are when they are empty: waiting cannot help.
Explained too_large(const PendingEvidence& seen) {
  if (seen.per_pod.empty() || all_bound(seen)) return std::nullopt;
  std::vector<NodeRoom> empty;
  for (const NodeRoom& node : seen.nodes)
    if (node.suitable && !node.whole.empty())
      empty.push_back({.name = node.name, .free = node.whole});
  if (seen.nodes.empty() ||
      std::ranges::any_of(seen.nodes, [](const NodeRoom& node) { return node.whole.empty(); }))
    return std::nullopt;
  const Room room = count_room(seen.per_pod, empty, seen.ranks);
  if (room.fit >= seen.ranks) return std::nullopt;
  const std::string asked = amounts_text(seen.per_pod);
  if (empty.empty())
    return say(pending::kTooLarge,
               fmt::format("no node of this cluster takes the pods: none of {} has the labels of "
                           "the node selector, or tolerated taints. It starts only if such nodes "
                           "are added; correct the selector or the tolerations.",
                           seen.nodes.size()));
  if (room.fit == 0)
    return say(pending::kTooLarge,
               fmt::format("no node is large enough, even when it is empty: each pod asks for {}; "
                           "the largest of {} nodes have {}. It starts only if larger nodes are "
                           "added; ask for less.",
                           asked, room.nodes, largest_text(seen)));
  return say(pending::kTooLarge,
             fmt::format("the cluster is too small, even when it is empty: {} of {} pods fit on {} "
                         "nodes, each asks for {}. It starts only if nodes are added; ask for "
                         "fewer pods.",
                         room.fit, seen.ranks, room.nodes, asked));
}

std::string room_text(const Room& room) {
  if (room.nodes == 0) return "no node is usable";
  if (room.fit == 0) return fmt::format("none of {} usable nodes has room for one", room.nodes);
  return fmt::format("there is room for {}, on {} of {} usable nodes", room.fit, room.nodes_used,
                     room.nodes);
}

Explained gang_short(const PendingEvidence& seen) {
  if (seen.nodes.empty() || seen.per_pod.empty() || all_bound(seen)) return std::nullopt;
  const auto bound = std::ranges::count_if(seen.pods, &PodEvidence::bound);
  const std::int64_t left = std::max<std::int64_t>(seen.ranks - bound, 0);
  const Room room = count_room(seen.per_pod, seen.nodes, left);
  const std::int64_t missing = left - room.fit;
  if (missing <= 0) return std::nullopt;
  std::string stops;
  for (const auto& [name, nodes] : room.stops)
    stops += fmt::format("{}{} on {} of them", stops.empty() ? "; short of " : ", ", name, nodes);
  return say(pending::kGangShort,
             fmt::format(
                 "the gang is short by {} of {} pods ({}): each asks for {}; {}{}. Wait for nodes, "
                 "or ask for fewer.",
                 missing, seen.ranks, amounts_text(multiply(seen.per_pod, missing)),
                 amounts_text(seen.per_pod), room_text(room), stops));
}

// What schedulers say of the pods, the same words once.
Explained scheduler_words(const PendingEvidence& seen) {
  std::map<std::string, std::vector<std::int32_t>> words;
  for (const PodEvidence& pod : seen.pods)
    if (!pod.bound && !pod.scheduled_message.empty())
      words[without_stop(clean_line(pod.scheduled_message, kLineMax))].push_back(pod.rank);
  std::string text;
  std::size_t told_of = 0;
  for (const auto& [message, ranks] : words) {
    if (told_of++ == kSchedulerMessagesMax) {
      text += fmt::format("; and {} more reasons", words.size() - kSchedulerMessagesMax);
      break;
    }
    text += fmt::format("{}rank {}: {}", text.empty() ? "" : "; ", rank_list(ranks), message);
  }
  if (text.empty() && seen.group && !seen.group->message.empty())
    text = fmt::format("{}: {}", seen.group->reason,
                       without_stop(clean_line(seen.group->message, kLineMax)));
  if (text.empty()) return std::nullopt;
  return say(
      pending::kUnschedulable,
      text + ". Compare the template's requests, node selector and tolerations with the nodes.");
}

PendingStatus in_between(const PendingEvidence& seen) {
  const auto made = static_cast<std::int64_t>(seen.pods.size());
  const auto bound = std::ranges::count_if(seen.pods, &PodEvidence::bound);
  if (made < seen.ranks)
    return say(pending::kPodsMissing,
               fmt::format("{} of {} pods exist, the rest is being created.", made, seen.ranks));
  if (!all_bound(seen))
    return say(pending::kWaiting,
               fmt::format("{} of {} pods have a node; the scheduler has not said "
                           "why the rest has none.",
                           bound, seen.ranks));
  const auto running = std::ranges::count(seen.pods, kube::PodPhase::kRunning, &PodEvidence::phase);
  return say(pending::kStarting,
             fmt::format("all {} pods have a node; started so far: {}.", seen.ranks, running));
}

}  // namespace

PendingStatus explain_pending(const PendingEvidence& evidence) {
  using Step = Explained (*)(const PendingEvidence&);
  constexpr Step kSteps[] = {pods_refused,    queue_unusable,     queue_too_small,
                             too_large,       containers_waiting, queue_full,
                             held_by_enqueue, gang_short,         scheduler_words};
  for (const Step step : kSteps)
    if (auto explained = step(evidence)) return *std::move(explained);
  return in_between(evidence);
}

}  // namespace amdahl::training
