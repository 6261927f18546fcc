// Pause: the ranks are asked for a checkpoint, what becomes of it is recorded, and only then the
// pods go (resume.cpp).
//
// With the policy Committed the attempt ends by a checkpoint, or when there is nothing to save, and
// never with steps lost, unless the job keeps no checkpoints at all. An attempt that breaks while
// it is asked is restart.cpp's: the pause is refused, and the next attempt runs until its next
// checkpoint (docs/adr/0026). What the first checkpoint after a refusal means: refused_pause.cpp.

#include <algorithm>

#include "operator/api/fit_status.hpp"
#include "operator/training/breakage.hpp"
#include "operator/training/events.hpp"
#include "operator/training/policies.hpp"
#include "operator/training/refused_pause.hpp"
#include "operator/training/status_of.hpp"
#include "operator/training/unsaved.hpp"

namespace amdahl::training {
namespace {

using api::PauseOutcome;
using api::ReportPauseState;

bool promises_steps(const Situation& s) {
  return s.spec.checkpoint.pause.policy == api::PausePolicy::kCommitted;
}

struct Outcome {
  PauseOutcome outcome = PauseOutcome::kNothingToSave;
  std::optional<std::int64_t> step = {};  // from which it will go on
  std::string message = {};
};

Plan end_with(const Situation& s, Outcome outcome) {
  TrainingJobStatus next = s.status;
  if (!is_pausing(s.status) && !pause_refused(s.status))
    next.pause =
        api::PauseStatus{.requested_at = stamp(s.now), .generation = s.job().metadata.generation};
  end_attempt(next, s, api::AttemptOutcome::kPaused, {});
  next.pause->outcome = outcome.outcome;
  next.pause->recorded_at = stamp(s.now);
  next.pause->step = outcome.step ? outcome.step : last_committed(next);
  next.pause->lost_steps = next.attempts.back().lost_steps;
  if (outcome.outcome == PauseOutcome::kCommitted) {
    // The script was through with its last step; a hook may count another one than the script.
    const bool by_hook = next.progress && next.progress->source == api::StepSource::kHook;
    next.pause->lost_steps =
        by_hook ? 0
                : std::max<std::int64_t>(
                      0, next.attempts.back().last_step.value_or(0) - next.pause->step.value_or(0));
    next.attempts.back().lost_steps = next.pause->lost_steps;
    if (const std::int64_t lost = *next.pause->lost_steps; lost > 0)
      outcome.message += lost == 1 ? "; 1 step after it has to be done again"
                                   : fmt::format("; {} steps after it have to be done again", lost);
  }
  next.pause->message = std::move(outcome.message);
  if (!next.budgets) next.budgets.emplace();
  ++next.budgets->pauses;
  Plan plan = write_ahead(s, std::move(next), Move::kEndAttempt);
  plan.policy = "pause";
  plan.events.push_back(
      event_of(fmt::format("Pause{}", enum_name(outcome.outcome)), plan.status->pause->message));
  return plan;
}

Outcome committed(std::int64_t step) {
  return {.outcome = PauseOutcome::kCommitted,
          .step = step,
          .message = fmt::format("step {} is safe", step)};
}

// The attempt ended by itself, or must end now: what is lost is lost.
Outcome cut_off(const Situation& s, std::string_view why) {
  TrainingJobStatus next = s.status;
  take_reports(next, s);
  const std::int64_t lost = steps_at_risk(next, s.spec).value_or(0);
  if (lost == 0 && !works_uncounted(s))
    return {.outcome = PauseOutcome::kNothingToSave, .message = std::string(why)};
  const std::string what = lost > 0 ? fmt::format("{} steps have to be done again", lost)
                                    : "what was done since the last checkpoint is lost";
  return {.outcome = PauseOutcome::kStepsLost, .message = fmt::format("{}: {}", why, what)};
}

Plan ask(const Situation& s, std::string words) {
  TrainingJobStatus next = s.status;
  next.pause = api::PauseStatus{.requested_at = stamp(s.now),
                                .generation = s.job().metadata.generation,
                                .message = "waiting for a checkpoint"};
  Plan plan = write_ahead(s, std::move(next), Move::kAskPause);
  plan.policy = "pause";
  plan.events.push_back(event_of(event::kPausing, std::move(words)));
  return plan;
}

// An attempt that is broken already failed by itself: restart.cpp ends it, and its successor is
// paused before it starts.
std::optional<Plan> begin(const Situation& s) {
  if (const auto why = nothing_to_save(s)) return end_with(s, cut_off(s, *why));
  if (promises_steps(s) && find_breakage(s)) return std::nullopt;
  return ask(s, "a checkpoint is asked for");
}

Plan drop(const Situation& s) {
  TrainingJobStatus next = s.status;
  const bool refused = pause_refused(s.status);
  next.pause.reset();
  Plan plan = write_ahead(s, std::move(next), refused ? Move::kObserve : Move::kDropPause);
  plan.policy = "pause";
  plan.events.push_back(event_of(event::kPauseDropped, "suspend was taken back; the job runs on"));
  return plan;
}

Plan refuse(const Situation& s, std::string_view why) {
  TrainingJobStatus next = s.status;
  take_reports(next, s);
  // A script may die of the save that failed, a moment later.
  refuse_pause(
      next, s,
      fmt::format("{}; the job is not paused: it runs on, or restarts if the script ends", why));
  Plan plan = write_ahead(s, std::move(next), Move::kRefusePause);
  plan.policy = "pause";
  plan.events.push_back(event_of(event::kPauseRefused, plan.status->pause->message));
  return plan;
}

// The trainer has stopped and not saved: an attempt that is not asked does its steps again.
Plan start_over(const Situation& s, std::string_view why) {
  TrainingJobStatus next = s.status;
  end_attempt(next, s, api::AttemptOutcome::kPaused, {});
  refuse_pause(next, s, fmt::format("{}; the job starts again from its last checkpoint", why));
  begin_attempt(next, s);
  Plan plan = write_ahead(s, std::move(next), Move::kResume);
  plan.policy = "pause";
  plan.events.push_back(event_of(event::kPauseRefused, plan.status->pause->message));
  return plan;
}

// Every rank ended well, and rank 0 did not say that it saved for the pause.
Plan stopped(const Situation& s) {
  constexpr std::string_view kWhy = "the trainer stopped without saying that it saved";
  TrainingJobStatus next = s.status;
  take_reports(next, s);
  const auto step = last_committed(next);
  const api::Report* const first = report_of(s.seen, s.view, 0);
  const auto state = first == nullptr ? ReportPauseState::kNone : first->pause.state;
  const bool unsaved = state == ReportPauseState::kFailed || state == ReportPauseState::kSaving;
  const bool unknown = unsaved && works_uncounted(s);
  if (step && !unknown && next.attempts.back().last_step.value_or(0) <= *step)
    return end_with(s, committed(*step));
  const Outcome end = cut_off(s, kWhy);
  const bool again =
      promises_steps(s) && keeps_checkpoints(s) && end.outcome == PauseOutcome::kStepsLost;
  return again ? start_over(s, kWhy) : end_with(s, end);
}

// nullopt: restart.cpp ends the attempt.
std::optional<Plan> broken_off(const Situation& s, const Breakage& broken) {
  const auto outcome = cut_off(s, "a rank was lost while the job paused");
  const bool again = promises_steps(s) && keeps_checkpoints(s);
  if (again && outcome.outcome == PauseOutcome::kStepsLost) return std::nullopt;
  Plan plan = end_with(s, outcome);
  plan.confirm_absent = broken.missing;
  return plan;
}

// In the words of the rank that was asked; nullopt: the trainer may still save.
std::optional<std::string> why_not_saved(const Situation& s) {
  constexpr std::uint32_t kReasonMax = 240;  // what to do about it comes behind it
  const api::Report* const report = report_of(s.seen, s.view, 0);
  const auto state = report == nullptr ? ReportPauseState::kNone : report->pause.state;
  const bool failed = state == ReportPauseState::kFailed;
  const bool late = state == ReportPauseState::kTimedOut;
  // A trainer that has ended does not run on: what it leaves is judged when its pod has ended, too.
  const bool ended = report != nullptr && report->exit.has_value();
  if ((ended || (!failed && !late)) && s.now < pause_deadline(s)) return std::nullopt;
  const bool asked = report != nullptr && report->pause.way != api::ReportPauseWay::kNone;
  if ((failed || late) && !asked)
    return "the trainer cannot be asked to save: it neither calls should_stop() nor catches "
           "SIGUSR1 or SIGTERM, see docs/guides/trainers.md";
  if (!failed) return "no checkpoint within the deadline";
  std::string why = "the trainer could not save";
  if (report->failed_saves && !report->failed_saves->message.empty())
    why += ": " + api::fit_text(report->failed_saves->message, kReasonMax);
  return why;
}

std::optional<Plan> watch(const Situation& s) {
  if (const auto step = committed_step(s)) return end_with(s, committed(*step));
  if (s.view.whole() && s.view.succeeded == s.view.desired) return stopped(s);
  if (const auto broken = find_breakage(s)) return broken_off(s, *broken);
  if (const auto why = nothing_to_save(s)) return end_with(s, cut_off(s, *why));
  const auto why = why_not_saved(s);
  if (!why) return {};
  return promises_steps(s) ? refuse(s, *why) : end_with(s, cut_off(s, *why));
}

std::optional<Plan> watch_refused(const Situation& s) {
  const auto commit = after_commit(s);
  if (commit && commit->then == AfterCommit::kEnd) return end_with(s, committed(commit->step));
  if (s.view.whole() && s.view.succeeded == s.view.desired) return stopped(s);
  if (!promises_steps(s)) return end_with(s, cut_off(s, "the policy is BestEffort now"));
  if (const auto broken = find_breakage(s)) return broken_off(s, *broken);
  if (!commit || commit->then != AfterCommit::kAsk) return std::nullopt;
  return ask(s, fmt::format("step {} was committed, so saves work again; a checkpoint is asked for "
                            "again",
                            commit->step));
}

}  // namespace

WallTime pause_deadline(const Situation& s) {
  const std::chrono::nanoseconds span = s.spec.checkpoint.pause.deadline.span;
  const WallTime since = s.seen.pause_since.value_or(s.status.pause->requested_at.value_or(s.now));
  return std::chrono::time_point_cast<WallTime::duration>(
      std::max(since + span, s.now + hearing_left(s, span)));
}

std::optional<Plan> plan_pause(const Situation& s) {
  if (!s.view.live()) return std::nullopt;
  const bool refused = pause_refused(s.status);
  const bool asked = is_pausing(s.status) || refused;
  if (!s.spec.suspend) return asked ? std::optional(drop(s)) : std::nullopt;
  return !asked ? begin(s) : refused ? watch_refused(s) : watch(s);
}

void refuse_pause(TrainingJobStatus& next, const Situation& s, std::string_view why) {
  if (!is_pausing(next) && !pause_refused(next)) return;  // what was decided stays so
  next.pause->outcome = PauseOutcome::kRefused;
  next.pause->recorded_at = stamp(s.now);
  next.pause->step = last_committed(next);
  next.pause->message = fmt::format(
      "{}. The pause is tried again at the next checkpoint. To stop it without one, set "
      "spec.checkpoint.pause.policy to BestEffort",
      why);
}

api::ReportReply reply_to_ranks(const Situation& s) {
  if (!s.view.live()) return {};
  api::ReportReply reply;
  // As it is on record, not as it is about to be: a leader that comes after this one says the same.
  if (s.status.checkpoint)
    reply.checkpoint_interval_seconds = s.status.checkpoint->interval_seconds;
  const bool asked = is_pausing(s.status) || pause_refused(s.status);
  if (!s.spec.suspend || !asked || leaves_alone(s)) return reply;
  if (const auto commit = after_commit(s); commit && commit->then == AfterCommit::kTakeBack)
    return reply;
  const auto left =
      pause_refused(s.status) ? s.spec.checkpoint.pause.deadline.span : pause_deadline(s) - s.now;
  reply.request = api::ReportRequest::kPause;
  reply.deadline_seconds =
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::seconds>(left).count());
  return reply;
}

}  // namespace amdahl::training
