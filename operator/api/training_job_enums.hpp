// The words of TrainingJob.
//
// Those that users write are closed: another word is refused. Those of the status are open: an
// older operator reads a newer word as Unknown instead of losing the whole object.
#pragma once

#include <cstdint>

#include "base/fields.hpp"

namespace amdahl::api {

enum class Runtime : std::uint8_t { kTorchrun, kDeepSpeed, kPython };
constexpr auto enum_names(Runtime) {
  return std::to_array<EnumName<Runtime>>({{Runtime::kTorchrun, "Torchrun"},
                                           {Runtime::kDeepSpeed, "DeepSpeed"},
                                           {Runtime::kPython, "Python"}});
}

enum class Hooks : std::uint8_t { kAuto, kOff };
constexpr auto enum_names(Hooks) {
  return std::to_array<EnumName<Hooks>>({{Hooks::kAuto, "Auto"}, {Hooks::kOff, "Off"}});
}

enum class GangScheduler : std::uint8_t { kVolcano, kNone };
constexpr auto enum_names(GangScheduler) {
  return std::to_array<EnumName<GangScheduler>>(
      {{GangScheduler::kVolcano, "Volcano"}, {GangScheduler::kNone, "None"}});
}

enum class Admission : std::uint8_t { kAutoscaled, kFixed };
constexpr auto enum_names(Admission) {
  return std::to_array<EnumName<Admission>>(
      {{Admission::kAutoscaled, "Autoscaled"}, {Admission::kFixed, "Fixed"}});
}

// Volcano's own words, passed through.
enum class TopologyMode : std::uint8_t { kSoft, kHard };
constexpr auto enum_names(TopologyMode) {
  return std::to_array<EnumName<TopologyMode>>(
      {{TopologyMode::kSoft, "soft"}, {TopologyMode::kHard, "hard"}});
}

enum class PausePolicy : std::uint8_t { kCommitted, kBestEffort };
constexpr auto enum_names(PausePolicy) {
  return std::to_array<EnumName<PausePolicy>>(
      {{PausePolicy::kCommitted, "Committed"}, {PausePolicy::kBestEffort, "BestEffort"}});
}

// For columns only; see phase.hpp.
enum class Phase : std::uint8_t {
  kUnknown,
  kPending,
  kQueued,
  kStarting,
  kRunning,
  kRestarting,
  kPausing,
  kPaused,
  kSucceeded,
  kFailed,
  kCancelled,
};
constexpr auto enum_names(Phase) {
  return std::to_array<EnumName<Phase>>({{Phase::kUnknown, "Unknown"},
                                         {Phase::kPending, "Pending"},
                                         {Phase::kQueued, "Queued"},
                                         {Phase::kStarting, "Starting"},
                                         {Phase::kRunning, "Running"},
                                         {Phase::kRestarting, "Restarting"},
                                         {Phase::kPausing, "Pausing"},
                                         {Phase::kPaused, "Paused"},
                                         {Phase::kSucceeded, "Succeeded"},
                                         {Phase::kFailed, "Failed"},
                                         {Phase::kCancelled, "Cancelled"}});
}
constexpr Phase enum_unknown(Phase) {
  return Phase::kUnknown;
}

// How an attempt ended; Unknown, which is not written, while it has not.
enum class AttemptOutcome : std::uint8_t {
  kUnknown,
  kSucceeded,
  kFailed,     // the job's own fault: spends the failure budget
  kDisrupted,  // not the job's fault: spends the disruption budget
  kPaused,
  kCancelled,
};
constexpr auto enum_names(AttemptOutcome) {
  return std::to_array<EnumName<AttemptOutcome>>({{AttemptOutcome::kUnknown, "Unknown"},
                                                  {AttemptOutcome::kSucceeded, "Succeeded"},
                                                  {AttemptOutcome::kFailed, "Failed"},
                                                  {AttemptOutcome::kDisrupted, "Disrupted"},
                                                  {AttemptOutcome::kPaused, "Paused"},
                                                  {AttemptOutcome::kCancelled, "Cancelled"}});
}
constexpr AttemptOutcome enum_unknown(AttemptOutcome) {
  return AttemptOutcome::kUnknown;
}

// What became of a pause; Unknown, which is not written, while that is open.
enum class PauseOutcome : std::uint8_t {
  kUnknown,
  kCommitted,      // nothing is lost
  kStepsLost,      // BestEffort, and the deadline passed
  kNothingToSave,  // no step had been made, or the job keeps no checkpoints
  kRefused,        // Committed, and no checkpoint in time: it runs on
};
constexpr auto enum_names(PauseOutcome) {
  return std::to_array<EnumName<PauseOutcome>>({{PauseOutcome::kUnknown, "Unknown"},
                                                {PauseOutcome::kCommitted, "Committed"},
                                                {PauseOutcome::kStepsLost, "StepsLost"},
                                                {PauseOutcome::kNothingToSave, "NothingToSave"},
                                                {PauseOutcome::kRefused, "Refused"}});
}
constexpr PauseOutcome enum_unknown(PauseOutcome) {
  return PauseOutcome::kUnknown;
}

}  // namespace amdahl::api
