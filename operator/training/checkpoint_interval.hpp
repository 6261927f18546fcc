// How often a job should save: Young's and Daly's sqrt(2 x stall x MTBF), from what was measured.
//
// Pure. The trainer is told when an attempt begins; what is measured meanwhile counts for the next.
#pragma once

#include <cstdint>

#include "operator/training/attempts.hpp"

namespace amdahl::training {

// Until a save was measured.
inline constexpr double kStallSecondsAssumed = 1;
// What is believed of a job before it has run: one failure in this time. It weighs as much as one
// failure that was seen.
inline constexpr std::int64_t kPriorMtbfSeconds = 24LL * 3600;
inline constexpr std::int64_t kIntervalSecondsMin = 60;
inline constexpr std::int64_t kIntervalSecondsMax = 3600;

// (time that all ranks ran + prior) / (failures + disruptions + 1)
double mean_seconds_between_failures(const TrainingJobStatus& status);
// Of spec.checkpoint.interval, or what Auto comes to.
std::int64_t interval_seconds(const api::TrainingJobSpec& spec, const TrainingJobStatus& status);
// As recorded when the attempt began.
std::int64_t told_interval_seconds(const api::TrainingJobSpec& spec,
                                   const TrainingJobStatus& status);

}  // namespace amdahl::training
