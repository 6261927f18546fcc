// How often a job should save: Young's and Daly's sqrt(2 x stall x MTBF), from what was measured.
//
// Pure. The trainer is told when an attempt begins, and again in the answers to its reports when
// what was measured meanwhile comes to something else. What is told is always what is on record, so
// that another leader goes on telling the same.
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
// What is off by less than this factor stays: stalls are never twice the same, and an interval that
// is wrong by x costs (x + 1/x) / 2 of what the best one costs, here 8% more.
inline constexpr double kIntervalChangeMin = 1.5;
// And one save that took very long for once does not change more than this.
inline constexpr double kIntervalChangeMax = 2;

// (time that all ranks ran + prior) / (failures + disruptions + 1)
double mean_seconds_between_failures(const TrainingJobStatus& status);
// Of spec.checkpoint.interval, or what Auto comes to.
std::int64_t interval_seconds(const api::TrainingJobSpec& spec, const TrainingJobStatus& status);
// With Auto: what an attempt that was told `told` shall be told now.
std::int64_t next_interval_seconds(std::int64_t told, const api::TrainingJobSpec& spec,
                                   const TrainingJobStatus& status);
// As it is on record.
std::int64_t told_interval_seconds(const api::TrainingJobSpec& spec,
                                   const TrainingJobStatus& status);

// Brings what the attempt that runs is told up to date, after its reports were taken. `committed`:
// with a checkpoint that was not known before. Auto moves only then: the trainer's interval begins
// anew there, and a status is written anyway.
void follow_interval(TrainingJobStatus& next, const Situation& s, bool committed);

}  // namespace amdahl::training
