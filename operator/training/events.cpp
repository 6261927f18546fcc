#include "operator/training/events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "operator/api/condition.hpp"

namespace amdahl::training {
namespace {

namespace reason = api::reason;

constexpr auto kKinds = std::to_array<EventKind>({
    {event::kQueued},
    {event::kBound},
    {event::kStarted},
    {event::kRankFailed, true},
    {event::kDisrupted, true},
    {event::kPausing},
    {"PauseCommitted"},
    {"PauseNothingToSave"},
    {"PauseStepsLost", true},
    {event::kPauseRefused, true},
    {event::kPauseDropped},
    {event::kPaused},
    {event::kResumed},
    {event::kCheckpointLeft, true},
    {event::kCheckpointDamaged, true},
    {event::kCheckpointTaken, true},
    {event::kCheckpointNotVerified},
    {event::kCheckpointSaveFailing, true},
    {event::kCompleted},
    {event::kCancelled},
    {reason::kInvalidSpec, true},
    {reason::kCannotRecover, true},
    {reason::kFailureBudgetSpent, true},
    {reason::kDisruptionBudgetSpent, true},
    {reason::kQueueDeadline, true},
    {reason::kStartDeadline, true},
    {reason::kActiveDeadline, true},
    {event::kUnreadable, true},
    {event::kReconcileFailed, true},
    {event::kStatusMended, true},
});

// A save that failed since the last record: a higher number, or in a new attempt a later time.
bool more_failed(const api::CheckpointStatus& next, const api::CheckpointStatus& before) {
  if (next.failed_saves > before.failed_saves) return true;
  return next.last_failed_save && next.last_failed_save->at &&
         (!before.last_failed_save || next.last_failed_save->at > before.last_failed_save->at);
}

void announce_saves(Plan& plan, const Situation& s) {
  const api::CheckpointStatus next = plan.status->checkpoint.value_or(api::CheckpointStatus{});
  if (!more_failed(next, s.status.checkpoint.value_or(api::CheckpointStatus{}))) return;
  std::string note = fmt::format("{} save{} could not be written", next.failed_saves,
                                 next.failed_saves == 1 ? "" : "s");
  const bool why = next.last_failed_save && !next.last_failed_save->message.empty();
  note += why ? ", the last because: " + next.last_failed_save->message
              : "; the trainer's log says why";
  plan.events.push_back(event_of(event::kCheckpointSaveFailing, std::move(note)));
}

// A checkpoint that keeps the job from its pods: said when the condition turns. Here and not where
// it is found, because a job without a status is planned as if its first one were written.
void announce_obstacle(Plan& plan, const Situation& s) {
  const auto& pending = plan.status->pending;
  if (!pending ||
      (pending->reason != event::kCheckpointTaken && pending->reason != event::kCheckpointDamaged))
    return;
  const auto* const before =
      api::find_condition(s.status.conditions, api::condition::kCheckpointReady);
  const auto* const now =
      api::find_condition(plan.status->conditions, api::condition::kCheckpointReady);
  if (now != nullptr && (before == nullptr || before->reason != now->reason))
    plan.events.push_back(event_of(pending->reason, pending->message));
}

void announce_phase(Plan& plan, const Situation& s) {
  const api::TrainingJobStatus& next = *plan.status;
  if (next.phase == s.status.phase) return;
  const std::string gang = fmt::format("attempt {}: the gang of {}", next.attempt,
                                       next.workers ? next.workers->desired : 0);
  switch (next.phase) {
    case api::Phase::kQueued:
      plan.events.push_back(event_of(event::kQueued, gang + " waits for nodes"));
      break;
    case api::Phase::kStarting:
      plan.events.push_back(event_of(event::kBound, gang + " has its nodes"));
      break;
    case api::Phase::kRunning:
      plan.events.push_back(event_of(event::kStarted, gang + " runs"));
      break;
    case api::Phase::kPaused:
      plan.events.push_back(
          event_of(event::kPaused,
                   "all pods are deleted; " + (next.pause ? next.pause->message : std::string())));
      break;
    default:
      break;  // Pending: the first status; every other phase is a decision, with its own words
  }
}

}  // namespace

std::span<const EventKind> event_kinds() {
  return kKinds;
}

PlannedEvent event_of(std::string_view reason, std::string note) {
  const auto* const kind = std::ranges::find(kKinds, reason, &EventKind::reason);
  AMDAHL_CHECK(kind != kKinds.end());
  return {.warning = kind->warning, .reason = std::string(reason), .note = std::move(note)};
}

void announce(Plan& plan, const Situation& s) {
  if (!plan.status) return;
  announce_obstacle(plan, s);
  if (plan.events.empty()) announce_phase(plan, s);
  announce_saves(plan, s);
}

}  // namespace amdahl::training
