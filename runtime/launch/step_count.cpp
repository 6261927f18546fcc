#include "runtime/launch/step_count.hpp"

#include "operator/api/report.hpp"

namespace amdahl::launch {
namespace {

// Lines are claims: what does not fit is left out.
std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  if (a > 0 && b > api::kReportIntegerMax / a) return std::nullopt;
  return a * b;
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
  return b > api::kReportIntegerMax - a ? api::kReportIntegerMax : a + b;
}

}  // namespace

StepCount::Sum StepCount::add(std::int64_t count, std::optional<std::int64_t> of,
                              std::optional<EpochSeen> epoch) {
  if (epoch && of) {
    const auto before = product(epoch->index, *of);
    if (before)
      return {.step = sum(*before, count),
              .total = epoch->count ? product(*epoch->count, *of) : std::nullopt};
  }
  const bool over = of && of == of_ && last_ >= *of && count < *of;
  if (over) before_ = sum(before_, *of);
  if (over || count > last_ || of != of_) last_ = count;
  of_ = of;
  // How many epochs there will be is not known once a second one has begun.
  return {.step = sum(before_, count), .total = before_ == 0 ? of : std::nullopt};
}

}  // namespace amdahl::launch
