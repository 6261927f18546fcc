#include "operator/training/status_of.hpp"

#include <algorithm>

#include "operator/api/condition.hpp"
#include "operator/api/fit_status.hpp"
#include "operator/api/phase.hpp"
#include "operator/controller/conditions.hpp"
#include "operator/training/account.hpp"
#include "operator/training/checkpoint_check.hpp"
#include "operator/training/step_time.hpp"

namespace amdahl::training {
namespace {

namespace condition = api::condition;
namespace reason = api::reason;
using api::AttemptOutcome;

class Conditions {
 public:
  Conditions(const Situation& s, TrainingJobStatus& next) : s_(s), next_(next) {}
  void set(std::string_view type, bool holds, std::string_view why, std::string message = {}) {
    put(type, holds ? api::ConditionStatus::kTrue : api::ConditionStatus::kFalse, why,
        std::move(message));
  }
  void put(std::string_view type, api::ConditionStatus status, std::string_view why,
           std::string message) {
    controller::set_condition(next_.conditions,
                              {.type = std::string(type),
                               .status = status,
                               .observed_generation = s_.job().metadata.generation,
                               .reason = std::string(why),
                               .message = std::move(message)},
                              stamp(s_.now));
  }

 private:
  const Situation& s_;
  TrainingJobStatus& next_;
};

// The attempt of `next` is the one whose pods were seen.
bool goes_on(const Situation& s, const TrainingJobStatus& next) {
  return !next.attempts.empty() && next.attempts.back().outcome == AttemptOutcome::kUnknown &&
         next.attempts.back().number == s.view.number;
}

void admitted(Conditions& conditions, const Situation& s, const TrainingJobStatus& next,
              const Shown& shown) {
  if (!goes_on(s, next)) return conditions.set(condition::kAdmitted, false, reason::kNotCreated);
  if (s.view.whole() && s.view.bound == s.view.desired)
    return conditions.set(condition::kAdmitted, true, reason::kBound);
  std::string why(shown.in_queue || next.attempts.back().started_at ? reason::kQueued
                                                                    : reason::kNotCreated);
  if (!shown.admitted_reason.empty()) why = shown.admitted_reason;
  conditions.set(condition::kAdmitted, false, why, next.pending ? next.pending->message : "");
}

void running(Conditions& conditions, const Situation& s, const TrainingJobStatus& next) {
  const bool live =
      !next.attempts.empty() && next.attempts.back().outcome == AttemptOutcome::kUnknown;
  if (!live || is_finished(next))
    return conditions.set(condition::kRunning, false, reason::kNotRunning);
  if (goes_on(s, next) && s.view.whole() && s.view.running == s.view.desired)
    return conditions.set(condition::kRunning, true, reason::kAllRanksStarted);
  const std::size_t count = next.attempts.size();
  const bool after_failure =
      count >= 2 && (next.attempts[count - 2].outcome == AttemptOutcome::kFailed ||
                     next.attempts[count - 2].outcome == AttemptOutcome::kDisrupted);
  if (after_failure && !next.attempts.back().started_at)
    return conditions.set(condition::kRunning, false, reason::kRestarting);
  const bool bound = goes_on(s, next) && s.view.whole() && s.view.bound == s.view.desired;
  conditions.set(condition::kRunning, false,
                 bound ? reason::kWaitingForRanks : reason::kNotRunning);
}

bool nothing_left(const Situation& s) {
  const bool group = s.seen.group && owned_by(s.seen.group->metadata.owners, s.job().metadata.uid);
  return s.view.ours.empty() && !group;
}

void suspended(Conditions& conditions, const Situation& s, const TrainingJobStatus& next) {
  if (is_finished(next)) return conditions.set(condition::kSuspended, false, reason::kNotSuspended);
  const std::string message = next.pause ? next.pause->message : "";
  if (is_parked(next)) {
    const bool done = nothing_left(s);
    return conditions.set(condition::kSuspended, done, done ? reason::kPaused : reason::kPausing,
                          message);
  }
  if (is_pausing(next))
    return conditions.set(condition::kSuspended, false, reason::kPausing, message);
  if (pause_refused(next))
    return conditions.set(condition::kSuspended, false, reason::kPauseRefused, message);
  conditions.set(condition::kSuspended, false, reason::kNotSuspended);
}

void checkpoint(Conditions& conditions, const Situation& s, const TrainingJobStatus& next) {
  const api::Condition ready = checkpoint_condition(next, s);
  conditions.put(ready.type, ready.status, ready.reason, ready.message);
}

void not_finished(Conditions& conditions, const TrainingJobStatus& next) {
  for (const std::string_view type :
       {condition::kSucceeded, condition::kFailed, condition::kCancelled})
    if (!api::is_true(next.conditions, type)) conditions.set(type, false, reason::kNotFinished);
}

void count_workers(const Situation& s, TrainingJobStatus& next) {
  api::WorkersStatus workers{.desired = next.workers ? next.workers->desired : 0};
  if (goes_on(s, next)) {
    workers.created = s.view.created;
    // What has been there once stays counted: a cache that is behind must not take it back.
    if (next.workers) workers.created = std::max(workers.created, next.workers->created);
    workers.bound = s.view.bound;
    workers.running = s.view.running - s.view.succeeded;
    workers.ready = s.view.ready;
  }
  if (next.workers || workers != api::WorkersStatus{}) next.workers = workers;
}

// The same status without what moves by itself.
TrainingJobStatus still(TrainingJobStatus status, const TrainingJobStatus& before, bool counts) {
  if (counts && status.workers && before.workers) {
    const std::int32_t desired = status.workers->desired;
    status.workers = before.workers;
    status.workers->desired = desired;
  }
  if (counts && status.pending && before.pending) status.pending->message = before.pending->message;
  for (api::Condition& one : status.conditions)
    if (const auto* old = api::find_condition(before.conditions, one.type);
        old != nullptr && (counts || one.type == condition::kCheckpointReady))
      one.message = old->message;
  status.progress = before.progress;
  // The first save that fails is told at once, those after it with the progress.
  const bool told = before.checkpoint && before.checkpoint->last_failed_save;
  const bool news = status.checkpoint && status.checkpoint->last_failed_save && !told;
  if (!news) status.checkpoint = before.checkpoint;
  for (std::size_t i = 0; i < status.attempts.size() && i < before.attempts.size(); ++i) {
    // The first step is what a user waits for: it is written at once. So is the first evaluation
    // or checkpoint, which ends the start and may be over when the next status is written.
    const bool began = before.attempts[i].first_step || before.attempts[i].worked_at;
    if (before.attempts[i].first_step)
      status.attempts[i].first_step = before.attempts[i].first_step;
    if (began) status.attempts[i].worked_at = before.attempts[i].worked_at;
    status.attempts[i].last_step = before.attempts[i].last_step;
  }
  return status;
}

}  // namespace

TrainingJobStatus complete_status(const Situation& s, TrainingJobStatus next, const Shown& shown) {
  if (goes_on(s, next)) take_reports(next, s);
  if (goes_on(s, next) && next.progress) forget_speed_in_silence(*next.progress, s.now);
  take_look(next, s);
  note_stop(next, s);
  next.pending = is_finished(next) ? std::nullopt : shown.pending;
  if (is_finished(next) && next.progress) next.progress->eta_seconds.reset();
  count_workers(s, next);
  if (goes_on(s, next) && s.view.whole()) note_start(next.attempts.back(), s);
  if (!next.budgets) next.budgets.emplace();
  Conditions conditions(s, next);
  admitted(conditions, s, next, shown);
  running(conditions, s, next);
  suspended(conditions, s, next);
  checkpoint(conditions, s, next);
  not_finished(conditions, next);
  next.observed_generation = s.job().metadata.generation;
  next.epoch = s.seen.epoch;
  const api::Summary summary = api::summarize(next);
  next.phase = summary.phase;
  next.reason = summary.reason;
  api::fit_status(next);
  return next;
}

Plan write_ahead(const Situation& s, TrainingJobStatus next, Move move, const Shown& shown) {
  Plan plan{.move = move, .write_ahead = true};
  next = complete_status(s, std::move(next), shown);
  account_held(next, s);
  plan.status = std::move(next);
  return plan;
}

void show(Plan& plan, const Situation& s, const Shown& shown) {
  TrainingJobStatus next = complete_status(s, s.status, shown);
  next.epoch = s.status.epoch;  // by itself no reason to write
  if (next == s.status) return;
  const TrainingJobStatus slow = still(next, s.status, false);
  const TrainingJobStatus slower = still(next, s.status, true);
  // After a clock was set back nobody waits until it is there again.
  const bool written = s.seen.status_written && *s.seen.status_written <= s.now;
  if (slower == s.status && written) {
    const auto every = slow == s.status ? kProgressEvery : kCountsEvery;
    const WallTime due = *s.seen.status_written + every;
    if (s.now < due) return plan.look_again_in(due - s.now);
  }
  next.epoch = s.seen.epoch;
  account_held(next, s);
  plan.status = std::move(next);
  if (plan.move) return;
  const auto flipped = [&](std::string_view type) {
    return api::is_true(plan.status->conditions, type) && !api::is_true(s.status.conditions, type);
  };
  const bool moved = plan.status->phase != s.status.phase;
  plan.move = !moved                           ? Move::kObserve
              : flipped(condition::kSuspended) ? Move::kPark
              : flipped(condition::kRunning)   ? Move::kStart
              : flipped(condition::kAdmitted)  ? Move::kBind
                                               : Move::kCreate;
}

}  // namespace amdahl::training
