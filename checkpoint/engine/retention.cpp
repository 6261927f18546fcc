#include "checkpoint/engine/retention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ranges>
#include <utility>

namespace amdahl::checkpoint {
namespace {

using Steps = std::set<std::int64_t>;
using ByStep = std::map<std::int64_t, const CommittedCheckpoint*>;

ByStep by_step(std::span<const CommittedCheckpoint> committed) {
  ByStep found;
  for (const CommittedCheckpoint& checkpoint : committed)
    found.emplace(checkpoint.step, &checkpoint);
  return found;
}

Steps best_steps(const RetentionPolicy& policy, std::span<const CommittedCheckpoint> committed) {
  std::vector<std::pair<double, std::int64_t>> ranked;  // best first, and of equals the newest
  for (const CommittedCheckpoint& checkpoint : committed) {
    const auto metric = checkpoint.metrics.find(policy.best_metric);
    if (metric == checkpoint.metrics.end()) continue;
    const double value = std::strtod(metric->second.c_str(), nullptr);
    if (std::isnan(value)) continue;
    ranked.emplace_back(policy.lower_is_better ? value : -value, -checkpoint.step);
  }
  std::ranges::sort(ranked);
  Steps best;
  for (const auto& [value, step] : ranked)
    if (std::cmp_less(best.size(), policy.best_count)) best.insert(-step);
  return best;
}

// Parents are earlier, so one pass from the newest on finds all of them.
Steps with_parents(const ByStep& committed, Steps steps) {
  for (const auto& [step, checkpoint] : std::views::reverse(committed))
    if (steps.contains(step) && checkpoint->parent && committed.contains(*checkpoint->parent))
      steps.insert(*checkpoint->parent);
  return steps;
}

}  // namespace

std::int64_t bytes_held(std::span<const CommittedCheckpoint> committed, const Steps& steps) {
  std::map<std::string_view, std::int64_t> objects;
  for (const CommittedCheckpoint& checkpoint : committed)
    if (steps.contains(checkpoint.step))
      for (const StoredObject& object : checkpoint.holds)
        objects.emplace(object.name, object.bytes);
  std::int64_t bytes = 0;
  for (const auto& [name, size] : objects) bytes += size;
  return bytes;
}

Steps steps_to_keep(const RetentionPolicy& policy, std::span<const CommittedCheckpoint> committed) {
  const ByStep all = by_step(committed);
  if (all.empty()) return {};
  const Steps best = best_steps(policy, committed);
  Steps wanted;
  Steps fixed = {all.rbegin()->first};
  std::int32_t newer = 0;
  for (const auto& [step, checkpoint] : std::views::reverse(all)) {
    const bool periodic = policy.keep_every_steps > 0 && step % policy.keep_every_steps == 0;
    if (newer++ < policy.keep_last || periodic || best.contains(step)) wanted.insert(step);
    if (checkpoint->pinned) fixed.insert(step);
  }
  const auto kept = [&] {
    Steps steps = wanted;
    steps.insert(fixed.begin(), fixed.end());
    return with_parents(all, std::move(steps));
  };
  // The next to go under a quota: the oldest that is not best, then the oldest of the best.
  const auto next_to_go = [&] {
    auto found = std::ranges::find_if(wanted, [&](auto step) { return !best.contains(step); });
    return found == wanted.end() ? wanted.begin() : found;
  };
  std::erase_if(wanted, [&](std::int64_t step) { return fixed.contains(step); });
  while (policy.bytes_max > 0 && !wanted.empty() &&
         bytes_held(committed, kept()) > policy.bytes_max)
    wanted.erase(next_to_go());
  return kept();
}

}  // namespace amdahl::checkpoint
