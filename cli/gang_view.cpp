#include "cli/gang_view.hpp"

#include <algorithm>

#include "cli/text_layout.hpp"
#include "operator/api/names.hpp"

namespace amdahl::cli {
namespace {

using kube::PodPhase;

const kube::ContainerTerminated* ended(const kube::Pod& pod) {
  for (const kube::ContainerStatus& container : pod.status.containers) {
    const auto& now = container.state.terminated;
    if (now && (now->exit_code != 0 || pod.status.containers.size() == 1)) return &*now;
  }
  return nullptr;
}

const kube::ContainerTerminated* ended_before(const kube::Pod& pod) {
  for (const kube::ContainerStatus& container : pod.status.containers)
    if (const auto& last = container.last_state.terminated) return &*last;
  return nullptr;
}

std::string ending(const kube::ContainerTerminated& end) {
  std::string text = end.reason.empty() ? "" : one_line(end.reason) + ", ";
  text += fmt::format("exit {}", end.exit_code);
  return end.signal == 0 ? text : text + fmt::format(", signal {}", end.signal);
}

std::string waiting(const kube::Pod& pod) {
  for (const auto* list : {&pod.status.init_containers, &pod.status.containers})
    for (const kube::ContainerStatus& container : *list)
      if (const auto& why = container.state.waiting; why && !why->reason.empty())
        return one_line(why->reason);
  for (const kube::PodCondition& condition : pod.status.conditions)
    if (condition.type == kube::PodConditionType::kScheduled &&
        condition.status == kube::ConditionStatus::kFalse && !condition.reason.empty())
      return one_line(condition.reason);
  return "";
}

bool is_ready(const kube::Pod& pod) {
  return std::ranges::any_of(pod.status.conditions, [](const kube::PodCondition& condition) {
    return condition.type == kube::PodConditionType::kReady &&
           condition.status == kube::ConditionStatus::kTrue;
  });
}

std::int64_t restarts_of(const kube::Pod& pod) {
  std::int64_t count = 0;
  for (const kube::ContainerStatus& container : pod.status.containers) count += container.restarts;
  return count;
}

bool in_trouble(const RankPod& one) {
  return one.pod->status.phase != PodPhase::kRunning || one.pod->metadata.deleted ||
         restarts_of(*one.pod) > 0;
}

// The ranks to show, in order: all, or those in trouble before the others.
std::vector<RankPod> choose(std::vector<RankPod> ranks) {
  if (ranks.size() <= kPodLinesMax) return ranks;
  std::ranges::sort(ranks, [](const RankPod& a, const RankPod& b) {
    return in_trouble(a) != in_trouble(b) ? in_trouble(a) : a.rank < b.rank;
  });
  ranks.resize(kPodLinesMax);
  return ranks;
}

std::string branches(const std::vector<RankPod>& ranks) {
  const std::vector<RankPod> shown = choose(ranks);
  Columns rows;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const bool last = i + 1 == shown.size() && shown.size() == ranks.size();
    const kube::Pod& pod = *shown[i].pod;
    rows.add({fmt::format("{} rank {}", last ? "`--" : "|--", shown[i].rank),
              one_line(pod.metadata.name),
              pod.spec.node.empty() ? "no node" : one_line(pod.spec.node), pod_state(pod)});
  }
  std::string text = rows.text();
  if (shown.size() < ranks.size())
    text += fmt::format("`-- and {} more\n", ranks.size() - shown.size());
  return text;
}

}  // namespace

std::vector<RankPod> by_rank(const std::vector<kube::Pod>& pods) {
  std::vector<RankPod> ranks;
  for (const kube::Pod& pod : pods)
    if (const auto who = api::pod_identity(pod.metadata.labels))
      ranks.push_back({.attempt = who->attempt, .rank = who->node_rank, .pod = &pod});
  std::ranges::sort(ranks, [](const RankPod& a, const RankPod& b) {
    return a.attempt != b.attempt ? a.attempt > b.attempt : a.rank < b.rank;
  });
  return ranks;
}

std::string pod_state(const kube::Pod& pod) {
  std::string text(enum_name(pod.status.phase));
  if (pod.metadata.deleted) text = "Terminating";
  std::string why = one_line(pod.status.reason);
  if (const auto* end = ended(pod))
    why += (why.empty() ? "" : ", ") + ending(*end);
  else if (why.empty() && pod.status.phase == PodPhase::kPending)
    why = waiting(pod);
  else if (why.empty() && pod.status.phase == PodPhase::kRunning && !pod.metadata.deleted)
    why = is_ready(pod) ? "ready" : waiting(pod).empty() ? "not ready" : waiting(pod);
  if (!why.empty()) text += ": " + why;
  if (const std::int64_t restarts = restarts_of(pod); restarts > 0) {
    text += fmt::format(", {} restart{}", restarts, restarts == 1 ? "" : "s");
    if (const auto* before = ended_before(pod)) text += " (last " + ending(*before) + ")";
  }
  return text;
}

std::string gang_tree(const JobSeen& seen) {
  const std::vector<RankPod> all = by_rank(seen.pods);
  std::string text;
  for (std::size_t at = 0; at < all.size();) {
    const std::uint32_t attempt = all[at].attempt;
    std::vector<RankPod> ranks;
    for (; at < all.size() && all[at].attempt == attempt; ++at) ranks.push_back(all[at]);
    const auto running = std::ranges::count_if(
        ranks, [](const RankPod& one) { return one.pod->status.phase == PodPhase::kRunning; });
    const auto& workers = seen.job.status.workers;
    const bool current = static_cast<std::int32_t>(attempt) == seen.job.status.attempt;
    const std::size_t desired =
        current && workers ? static_cast<std::size_t>(workers->desired) : ranks.size();
    text += fmt::format("attempt {}: {} of {} pods running\n", attempt, running,
                        std::max(desired, ranks.size()));
    text += branches(ranks);
  }
  return text;
}

}  // namespace amdahl::cli
