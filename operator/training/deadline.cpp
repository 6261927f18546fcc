// Deadlines, each of which counts what it says: queue, time without all pods bound; start, from
// there to the first step; active, time in which all ranks run, in all attempts together. Time
// paused is in none of them.

#include <algorithm>
#include <vector>

#include "operator/api/condition.hpp"
#include "operator/training/breakage.hpp"
#include "operator/training/events.hpp"
#include "operator/training/policies.hpp"
#include "operator/training/status_of.hpp"

namespace amdahl::training {
namespace {

// A trainer that printed something within this time is at work, whatever it printed.
constexpr std::chrono::minutes kQuietMax{5};

struct Running {
  std::string_view reason = {};
  std::chrono::nanoseconds limit{0};
  std::chrono::nanoseconds used{0};
  std::string what = {};

  std::chrono::nanoseconds left() const { return limit - used; }
};

using Deadlines = std::vector<Running>;

void add(Deadlines& running, const OptionalDuration& limit, std::int64_t seconds,
         std::string_view reason, std::string what) {
  if (limit.fixed)
    running.push_back({reason, limit.fixed->span, std::chrono::seconds{seconds}, std::move(what)});
}

// Steps that nobody understands are no reason to end a job that visibly works: as long as a rank
// prints, the deadline is put off, and so it is until a new leader has heard the ranks.
Running start_deadline(const Situation& s, const Used& used, std::chrono::nanoseconds limit) {
  Running start{api::reason::kStartDeadline, limit, std::chrono::seconds{used.start_seconds}, {}};
  if (!api::is_true(s.status.conditions, api::condition::kRunning)) {
    start.what = "had its nodes and did not start for";
    return start;
  }
  start.what = "had its nodes and made no step for";
  std::chrono::nanoseconds rest = hearing_left(s, limit);
  const auto patience = std::min<std::chrono::nanoseconds>(limit, kQuietMax);
  if (const auto quiet = quiet_seconds(s))
    rest = std::max<std::chrono::nanoseconds>(rest, patience - std::chrono::seconds{*quiet});
  if (rest > rest.zero() && start.left() < rest) start.limit = start.used + rest;
  return start;
}

// Those that run now and have a limit.
Deadlines running_deadlines(const Situation& s) {
  Deadlines all;
  if (!s.view.live()) return all;
  // Got there already, perhaps while nobody looked: the record is behind, and only it.
  const bool admitted = api::is_true(s.status.conditions, api::condition::kAdmitted);
  const bool running = api::is_true(s.status.conditions, api::condition::kRunning);
  if (!admitted && s.view.whole() && s.view.bound == s.view.desired) return all;
  if (!running && s.view.whole() && s.view.running == s.view.desired) return all;
  const Used used = used_time(s);
  const api::DeadlineSpec& limits = s.spec.deadlines;
  if (running)
    add(all, limits.active, used.active_seconds, api::reason::kActiveDeadline, "trained for");
  if (is_starting(s) && limits.start.fixed)
    all.push_back(start_deadline(s, used, limits.start.fixed->span));
  if (!admitted)
    add(all, limits.queue, used.queue_seconds, api::reason::kQueueDeadline, "waited for nodes for");
  return all;
}

}  // namespace

std::optional<std::chrono::nanoseconds> next_deadline(const Situation& s) {
  constexpr std::chrono::nanoseconds kSoonest = std::chrono::seconds{1};
  std::optional<std::chrono::nanoseconds> next;
  for (const Running& running : running_deadlines(s))
    next = std::max(std::min(next.value_or(running.left()), running.left()), kSoonest);
  if (!s.view.live() || !s.spec.suspend || !is_pausing(s.status)) return next;
  std::chrono::nanoseconds pause = pause_deadline(s) - s.now;
  // Whether there is anything to save is known once the ranks have been heard.
  const auto hearing = hearing_left(s, s.spec.checkpoint.pause.deadline.span);
  if (hearing > hearing.zero()) pause = std::min(pause, hearing);
  return std::max(std::min(next.value_or(pause), pause), kSoonest);
}

std::optional<Plan> plan_deadline(const Situation& s) {
  const Deadlines all = running_deadlines(s);
  const auto running =
      std::ranges::find_if(all, [](const Running& one) { return one.left() <= one.left().zero(); });
  if (running == all.end()) return std::nullopt;
  const std::string message = fmt::format("{} {}", running->what, format_duration(running->used));
  TrainingJobStatus next = s.status;
  end_attempt(next, s, api::AttemptOutcome::kFailed, why_not_further(s));
  finish_job(next, s, api::condition::kFailed, running->reason, message);
  Plan plan = write_ahead(s, std::move(next), Move::kGiveUp);
  plan.policy = "deadline";
  plan.events.push_back(event_of(running->reason, message));
  return plan;
}

}  // namespace amdahl::training
