// The events of a TrainingJob: every reason there is, and what is said when a phase changes.
//
// Pure. Every change of phase, every restart, every outcome of a pause and every checkpoint that is
// not as it should be has exactly one event, and so has a job that the operator cannot look after;
// nothing else has one. docs/reference/events.md is this
// list for people.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "operator/training/plan.hpp"
#include "operator/training/situation.hpp"

namespace amdahl::training {

namespace event {
inline constexpr std::string_view kQueued = "Queued";
inline constexpr std::string_view kBound = "Bound";
inline constexpr std::string_view kStarted = "Started";
inline constexpr std::string_view kRankFailed = "RankFailed";
inline constexpr std::string_view kDisrupted = "Disrupted";
inline constexpr std::string_view kPausing = "Pausing";
inline constexpr std::string_view kPauseDropped = "PauseDropped";
inline constexpr std::string_view kPauseRefused = "PauseRefused";
inline constexpr std::string_view kPaused = "Paused";
inline constexpr std::string_view kResumed = "Resumed";
// A checkpoint cannot be used, and an older one is, or none is left.
inline constexpr std::string_view kCheckpointDamaged = "CheckpointDamaged";
inline constexpr std::string_view kCheckpointSaveFailing = "CheckpointSaveFailing";
inline constexpr std::string_view kCheckpointTaken = "CheckpointTaken";
inline constexpr std::string_view kCheckpointLeft = "CheckpointLeft";
inline constexpr std::string_view kCheckpointNotVerified = "CheckpointNotVerified";
inline constexpr std::string_view kCompleted = "Completed";
inline constexpr std::string_view kCancelled = "Cancelled";
// About the operator itself, and without a status: it cannot look after the job.
inline constexpr std::string_view kUnreadable = "Unreadable";
inline constexpr std::string_view kReconcileFailed = "ReconcileFailed";
inline constexpr std::string_view kStatusMended = "StatusMended";
}  // namespace event

struct EventKind {
  std::string_view reason = {};
  bool warning = false;
};
// The order of docs/reference/events.md.
std::span<const EventKind> event_kinds();

// With the type that the list has for it.
PlannedEvent event_of(std::string_view reason, std::string note);

// Adds the events of what turned without a policy that had words for it: the phase, checkpoints
// that keep the job from its pods, saves that fail.
void announce(Plan& plan, const Situation& s);

}  // namespace amdahl::training
