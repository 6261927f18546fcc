#include "checkpoint/format/history.hpp"

#include <algorithm>
#include <functional>

#include "checkpoint/format/names.hpp"

namespace amdahl::checkpoint {

std::vector<std::int64_t> committed_steps(std::span<const std::string> listed) {
  std::vector<std::int64_t> steps;
  for (const std::string& text : listed) {
    const auto name = parse_name(text);
    if (name && name->kind == ObjectKind::kManifest) steps.push_back(name->step);
  }
  std::ranges::sort(steps, std::greater{});
  return steps;
}

Choice choose_newest(std::span<const Candidate> candidates) {
  std::vector<std::size_t> order(candidates.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, std::greater{}, [&](std::size_t i) { return candidates[i].step; });
  Choice choice;
  for (const std::size_t i : order) {
    if (candidates[i].manifest) {
      choice.index = i;
      return choice;
    }
    choice.passed_over.push_back(
        {.step = candidates[i].step, .why = candidates[i].manifest.error().context});
  }
  return choice;
}

}  // namespace amdahl::checkpoint
