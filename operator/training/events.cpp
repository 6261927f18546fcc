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
    {event::kCheckpointDamaged, true},
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
});

std::int32_t failed_saves(const api::TrainingJobStatus& status) {
  return status.checkpoint ? status.checkpoint->failed_saves : 0;
}

// Its own words are the trainer's: a report has only the number.
void announce_saves(Plan& plan, const Situation& s) {
  const std::int32_t failed = failed_saves(*plan.status);
  if (failed <= failed_saves(s.status)) return;
  plan.events.push_back(
      event_of(event::kCheckpointSaveFailing,
               fmt::format("{} save{} could not be written; the trainer's log says why", failed,
                           failed == 1 ? "" : "s")));
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
  if (!plan.status || !plan.events.empty()) return;
  const api::TrainingJobStatus& next = *plan.status;
  if (next.phase == s.status.phase) return announce_saves(plan, s);
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
      plan.events.push_back(event_of(
          event::kPaused,
          "it holds nothing any more; " + (next.pause ? next.pause->message : std::string())));
      break;
    default:
      break;  // Pending: the first status; every other phase is a decision, with its own words
  }
}

}  // namespace amdahl::training
