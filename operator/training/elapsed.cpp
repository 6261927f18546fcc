// How the time of the current attempt is counted: waiting, starting, training, backing off.

#include <algorithm>

#include "operator/api/condition.hpp"
#include "operator/training/attempts.hpp"

namespace amdahl::training {
namespace {

using api::AttemptOutcome;

constexpr std::int32_t kBackoffDoublingsMax = 20;
// A century, so that nanoseconds do not overflow: the times of a status can say anything.
constexpr std::int64_t kUsedSecondsMax = 3'155'760'000;

WallTime changed_at(const TrainingJobStatus& status, std::string_view type) {
  const api::Condition* const found = api::find_condition(status.conditions, type);
  return found == nullptr || !found->changed ? WallTime{} : *found->changed;
}

bool waits_for_repair(const TrainingJobStatus& status) {
  const api::Condition* const ready =
      api::find_condition(status.conditions, api::condition::kCheckpointReady);
  return ready != nullptr && ready->reason == api::reason::kDamaged;
}

}  // namespace

WallTime attempt_began(const TrainingJobStatus& status) {
  WallTime began = changed_at(status, api::condition::kSuspended);
  if (!api::is_true(status.conditions, api::condition::kAdmitted))
    began = std::max(began, changed_at(status, api::condition::kAdmitted));
  if (status.attempts.size() >= 2) {
    const auto& before = status.attempts[status.attempts.size() - 2];
    if (before.ended_at) began = std::max(began, *before.ended_at);
  }
  return began;
}

std::optional<WallTime> backoff_until(const Situation& s) {
  const api::AttemptStatus* const before = attempt_before(s.status);
  if (before == nullptr || !before->ended_at) return std::nullopt;
  if (*before->ended_at > s.now) return std::nullopt;  // a clock was set: nobody waits for it
  const bool failed = before->outcome == AttemptOutcome::kFailed;
  const bool disrupted = before->outcome == AttemptOutcome::kDisrupted;
  const std::int32_t count = fruitless_attempts(s.status);
  if (!failed && (!disrupted || count <= 1)) return std::nullopt;
  std::chrono::nanoseconds wait = s.spec.restart.backoff.span;
  const std::chrono::nanoseconds most = s.spec.restart.backoff_max.span;
  for (std::int32_t i = 1; i < count && i < kBackoffDoublingsMax && wait < most; ++i) wait *= 2;
  return std::chrono::time_point_cast<WallTime::duration>(*before->ended_at + std::min(wait, most));
}

bool is_starting(const Situation& s) {
  if (!api::is_true(s.status.conditions, api::condition::kAdmitted)) return false;
  if (!api::is_true(s.status.conditions, api::condition::kRunning)) return true;
  return !s.seen.reports.empty() && !has_worked(s.seen, s.view, s.status.checkpoint);
}

namespace {

Used counted_time(const Situation& s) {
  const TrainingJobStatus& status = s.status;
  Used used{.queue_seconds = status.elapsed.queue_seconds,
            .start_seconds = status.elapsed.start_seconds,
            .active_seconds = status.elapsed.active_seconds};
  if (!s.view.live()) return used;
  if (api::is_true(status.conditions, api::condition::kRunning))
    used.active_seconds += seconds_between(changed_at(status, api::condition::kRunning), s.now);
  if (api::is_true(status.conditions, api::condition::kAdmitted)) {
    if (is_starting(s))
      used.start_seconds += seconds_between(changed_at(status, api::condition::kAdmitted), s.now);
  } else {
    // A backoff is our own doing, as is the wait for a sound checkpoint: no queue is waited for
    // meanwhile.
    if (waits_for_repair(status)) return used;
    const WallTime from = std::max({attempt_began(status), backoff_until(s).value_or(WallTime{}),
                                    changed_at(status, api::condition::kCheckpointReady)});
    used.queue_seconds += seconds_between(from, s.now);
  }
  return used;
}

}  // namespace

Used used_time(const Situation& s) {
  Used used = counted_time(s);
  for (std::int64_t* seconds : {&used.queue_seconds, &used.start_seconds, &used.active_seconds})
    *seconds = std::clamp<std::int64_t>(*seconds, 0, kUsedSecondsMax);
  return used;
}

}  // namespace amdahl::training
