#include "operator/training/checkpoint_interval.hpp"

#include <algorithm>
#include <cmath>

namespace amdahl::training {

double mean_seconds_between_failures(const TrainingJobStatus& status) {
  const std::int64_t ran = status.elapsed.active_seconds;
  // Unlike the budgets, which progress refills, restarts never shrink.
  const std::int32_t failed = std::max(0, status.restarts.value_or(0));
  return static_cast<double>(ran + kPriorMtbfSeconds) / (failed + 1.0);
}

std::int64_t interval_seconds(const api::TrainingJobSpec& spec, const TrainingJobStatus& status) {
  if (const auto& fixed = spec.checkpoint.interval.fixed)
    return std::max<std::int64_t>(
        1, std::chrono::duration_cast<std::chrono::seconds>(fixed->span).count());
  double stall = kStallSecondsAssumed;
  if (status.checkpoint) stall = status.checkpoint->stall_seconds.value_or(stall);
  const double best = std::sqrt(2 * stall * mean_seconds_between_failures(status));
  return std::llround(std::clamp(best, static_cast<double>(kIntervalSecondsMin),
                                 static_cast<double>(kIntervalSecondsMax)));
}

std::int64_t next_interval_seconds(std::int64_t told, const api::TrainingJobSpec& spec,
                                   const TrainingJobStatus& status) {
  // Beyond the bounds it was the spec's own.
  const auto before =
      static_cast<double>(std::clamp(told, kIntervalSecondsMin, kIntervalSecondsMax));
  const double ratio = static_cast<double>(interval_seconds(spec, status)) / before;
  if (ratio < kIntervalChangeMin && ratio > 1 / kIntervalChangeMin) return std::llround(before);
  return std::llround(before * std::clamp(ratio, 1 / kIntervalChangeMax, kIntervalChangeMax));
}

std::int64_t told_interval_seconds(const api::TrainingJobSpec& spec,
                                   const TrainingJobStatus& status) {
  if (status.checkpoint && status.checkpoint->interval_seconds)
    return *status.checkpoint->interval_seconds;
  return interval_seconds(spec, status);
}

void follow_interval(TrainingJobStatus& next, const Situation& s, bool committed) {
  if (!next.checkpoint || !next.checkpoint->interval_seconds) return;
  auto& told = next.checkpoint->interval_seconds;
  if (s.spec.checkpoint.interval.fixed) told = interval_seconds(s.spec, next);
  if (s.spec.checkpoint.interval.fixed || !committed) return;
  TrainingJobStatus measured = next;
  // The attempt that runs counts too: `elapsed` has it only once it has ended.
  measured.elapsed.active_seconds = used_time(s).active_seconds;
  told = next_interval_seconds(*told, s.spec, measured);
}

}  // namespace amdahl::training
