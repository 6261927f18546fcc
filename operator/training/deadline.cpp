// Deadlines, each of which counts what it says: queue, time without all pods bound; start, from
// there until every rank runs; active, time in which all ranks run, in all attempts together. Time
// paused is in none of them.

#include "operator/api/condition.hpp"
#include "operator/training/events.hpp"
#include "operator/training/policies.hpp"
#include "operator/training/status_of.hpp"

namespace amdahl::training {
namespace {

struct Running {
  std::string_view reason = {};
  std::string_view what = {};
  std::chrono::nanoseconds limit{0};
  std::chrono::nanoseconds used{0};
};

// The one deadline that runs now, if it has a limit.
std::optional<Running> running_deadline(const Situation& s) {
  if (!s.view.live()) return std::nullopt;
  // Got there already, perhaps while nobody looked: the record is behind, and only it.
  const bool admitted = api::is_true(s.status.conditions, api::condition::kAdmitted);
  const bool running = api::is_true(s.status.conditions, api::condition::kRunning);
  if (!admitted && s.view.whole() && s.view.bound == s.view.desired) return std::nullopt;
  if (!running && s.view.whole() && s.view.running == s.view.desired) return std::nullopt;
  const Used used = used_time(s);
  const api::DeadlineSpec& limits = s.spec.deadlines;
  const auto of = [](const OptionalDuration& limit, std::int64_t seconds, std::string_view reason,
                     std::string_view what) -> std::optional<Running> {
    if (!limit.fixed) return std::nullopt;
    return Running{reason, what, limit.fixed->span, std::chrono::seconds{seconds}};
  };
  if (running)
    return of(limits.active, used.active_seconds, api::reason::kActiveDeadline, "trained for");
  if (admitted)
    return of(limits.start, used.start_seconds, api::reason::kStartDeadline,
              "had its nodes and did not start for");
  return of(limits.queue, used.queue_seconds, api::reason::kQueueDeadline, "waited for nodes for");
}

}  // namespace

std::optional<std::chrono::nanoseconds> next_deadline(const Situation& s) {
  constexpr std::chrono::seconds kSoonest{1};
  std::optional<std::chrono::nanoseconds> next;
  if (const auto running = running_deadline(s))
    next = std::max<std::chrono::nanoseconds>(running->limit - running->used, kSoonest);
  if (!s.view.live() || !s.spec.suspend || !is_pausing(s.status)) return next;
  const std::chrono::nanoseconds pause = pause_deadline(s) - s.now;
  return std::max<std::chrono::nanoseconds>(std::min(next.value_or(pause), pause), kSoonest);
}

std::optional<Plan> plan_deadline(const Situation& s) {
  const auto running = running_deadline(s);
  if (!running || running->used < running->limit) return std::nullopt;
  const std::string message = fmt::format("{} {}", running->what, format_duration(running->used));
  TrainingJobStatus next = s.status;
  end_attempt(next, s, api::AttemptOutcome::kFailed, {});
  finish_job(next, s, api::condition::kFailed, running->reason, message);
  Plan plan = write_ahead(s, std::move(next), Move::kGiveUp);
  plan.policy = "deadline";
  plan.events.push_back(event_of(running->reason, message));
  return plan;
}

}  // namespace amdahl::training
