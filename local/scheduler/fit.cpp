// Resources, and the choice among the nodes that fit.
#include "local/scheduler/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "local/scheduler/queue.hpp"

namespace amdahl::local::scheduling {
namespace {

constexpr Amount kPerMille = 1'000;

// How much of what the pod asks for would be left, in thousandths of what the node has: small is
// tight. Tight first keeps whole nodes free for whole gangs, and neighbours of a gang together.
std::int64_t room_left(const PodRow& pod, const NodeRow& node) {
  std::int64_t left = 0;
  for (const Want& want : pod.wants) {
    const Amount after = node.free[want.resource] - want.amount;
    left += after * kPerMille / std::max<Amount>(node.total[want.resource], 1);
  }
  return left;
}

bool allows(const Board& board, const PodRow& pod, const Neighbours& neighbours,
            const NodeRow& node, Unfit* unfit) {
  return tolerates(*pod.view, *node.view, unfit) && matches_node(*pod.view, *node.view, unfit) &&
         fits_resources(board, pod, node, unfit) && neighbours.allows(*node.view, unfit);
}

}  // namespace

std::string Unfit::message(std::size_t nodes) const {
  if (nodes == 0) return "no nodes available to schedule pods";
  std::vector<std::string> reasons;
  reasons.reserve(counts_.size());
  for (const auto& [reason, count] : counts_)
    reasons.push_back(fmt::format("{} {}", count, reason));
  std::ranges::sort(reasons);
  if (reasons.size() > kReasonsMax) {
    const std::size_t more = reasons.size() - kReasonsMax;
    reasons.resize(kReasonsMax);
    reasons.push_back(fmt::format("and {} more reasons", more));
  }
  std::string text = fmt::format("0/{} nodes are available: {}.", nodes, fmt::join(reasons, ", "));
  if (text.size() > kMessageBytesMax) text.resize(kMessageBytesMax);
  return text;
}

bool fits_resources(const Board& board, const PodRow& pod, const NodeRow& node, Unfit* unfit) {
  bool fits = true;
  for (const Want& want : pod.wants) {
    if (want.amount <= node.free[want.resource]) continue;
    fits = false;
    if (unfit == nullptr) break;
    const std::string_view name = board.resource_name(want.resource);
    unfit->add(name == "pods" ? "Too many pods" : fmt::format("Insufficient {}", name));
  }
  return fits;
}

std::optional<Index> choose_node(const Board& board, const PodRow& pod, std::string* why) {
  if (std::string full = queue_refuses(board, pod); !full.empty()) {
    if (why != nullptr) *why = std::move(full);
    return std::nullopt;
  }
  const Neighbours neighbours(board, pod);
  std::optional<Index> best;
  std::tuple<std::int64_t, std::int64_t, std::int64_t> best_score;
  for (Index i = 0; i < board.nodes.size(); ++i) {
    const NodeRow& node = board.nodes[i];
    if (!allows(board, pod, neighbours, node, nullptr)) continue;
    const std::tuple score{-preference(*pod.view, *node.view),
                           disliked_taints(*pod.view, *node.view), room_left(pod, node)};
    if (best && score >= best_score) continue;
    best = i;
    best_score = score;
  }
  if (!best && why != nullptr) {
    Unfit unfit;
    for (const NodeRow& node : board.nodes) (void)allows(board, pod, neighbours, node, &unfit);
    *why = unfit.message(board.nodes.size());
  }
  return best;
}

}  // namespace amdahl::local::scheduling
