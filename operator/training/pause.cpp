// Pause: the ranks are asked for a checkpoint, what becomes of it is recorded, and only then the
// pods go (resume.cpp). It spends no failure budget, whatever happens meanwhile.

#include <algorithm>

#include "operator/training/breakage.hpp"
#include "operator/training/events.hpp"
#include "operator/training/policies.hpp"
#include "operator/training/status_of.hpp"

namespace amdahl::training {
namespace {

using api::PauseOutcome;
using api::ReportPauseState;

struct Outcome {
  PauseOutcome outcome = PauseOutcome::kNothingToSave;
  std::optional<std::int64_t> step = {};  // from which it will go on
  std::string message = {};
};

std::optional<std::int64_t> last_committed(const TrainingJobStatus& status) {
  if (!status.checkpoint || !status.checkpoint->last_committed) return std::nullopt;
  return status.checkpoint->last_committed->step;
}

Plan end_with(const Situation& s, Outcome outcome) {
  TrainingJobStatus next = s.status;
  const bool asked = is_pausing(s.status) || pause_refused(s.status);
  if (!asked)
    next.pause =
        api::PauseStatus{.requested_at = stamp(s.now), .generation = s.job().metadata.generation};
  end_attempt(next, s, api::AttemptOutcome::kPaused, {});
  next.pause->outcome = outcome.outcome;
  next.pause->recorded_at = stamp(s.now);
  next.pause->step = outcome.step ? outcome.step : last_committed(next);
  next.pause->lost_steps = next.attempts.back().lost_steps;
  if (outcome.outcome == PauseOutcome::kCommitted) {
    next.pause->lost_steps = std::max<std::int64_t>(
        0, next.attempts.back().last_step.value_or(0) - next.pause->step.value_or(0));
    next.attempts.back().lost_steps = next.pause->lost_steps;
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

bool all_say(const Situation& s, ReportPauseState state) {
  if (s.view.ranks.empty()) return false;
  for (std::uint32_t rank = 1; rank < s.view.ranks.size(); ++rank) {
    const api::Report* const report = report_of(s.seen, s.view, rank);
    if (report == nullptr || report->pause.state != state) return false;
  }
  return s.view.ranks.size() > 1;
}

// Rank 0 says that the checkpoint for this pause is complete, or all the others do.
std::optional<std::int64_t> committed_step(const Situation& s) {
  const api::Report* report = report_of(s.seen, s.view, 0);
  const bool first = report != nullptr && report->pause.state == ReportPauseState::kCommitted;
  if (!first && !all_say(s, ReportPauseState::kCommitted)) return std::nullopt;
  if (!first) report = report_of(s.seen, s.view, 1);
  if (report->pause.step) return report->pause.step;
  if (report->checkpoint) return report->checkpoint->step;
  return report->step.value_or(0);
}

// After a refusal any newer checkpoint will do.
std::optional<std::int64_t> newer_checkpoint(const Situation& s) {
  const api::Report* const report = report_of(s.seen, s.view, 0);
  if (report == nullptr || !report->checkpoint) return std::nullopt;
  if (report->checkpoint->step <= s.status.pause->step.value_or(-1)) return std::nullopt;
  return report->checkpoint->step;
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
  const std::int64_t lost = steps_at_risk(next).value_or(0);
  if (lost == 0) return {.outcome = PauseOutcome::kNothingToSave, .message = std::string(why)};
  return {.outcome = PauseOutcome::kStepsLost,
          .message = fmt::format("{}: {} steps have to be done again", why, lost)};
}

// Every rank ended well, and rank 0 did not say that it saved for the pause.
Outcome stopped(const Situation& s) {
  TrainingJobStatus next = s.status;
  take_reports(next, s);
  const auto step = last_committed(next);
  if (step && next.attempts.back().last_step.value_or(0) <= *step) return committed(*step);
  return cut_off(s, "the trainer stopped without saying that it saved");
}

// Why asking would be pointless; nullopt: there is something to ask for.
std::optional<std::string> nothing_to_save(const Situation& s) {
  if (s.view.running == 0) return "no rank had started";
  if (s.spec.checkpoint.uri.empty()) return "the job keeps no checkpoints";
  if (has_stepped(s.seen, s.view)) return std::nullopt;
  // Nobody who could be asked: those that run wait for the others.
  if (s.view.running < s.view.desired) return "not every rank had started";
  if (report_of(s.seen, s.view, 0) != nullptr) return "no step was made";
  return std::nullopt;
}

Plan begin(const Situation& s) {
  if (const auto why = nothing_to_save(s)) return end_with(s, cut_off(s, *why));
  TrainingJobStatus next = s.status;
  next.pause = api::PauseStatus{.requested_at = stamp(s.now),
                                .generation = s.job().metadata.generation,
                                .message = "waiting for a checkpoint"};
  Plan plan = write_ahead(s, std::move(next), Move::kAskPause);
  plan.policy = "pause";
  plan.events.push_back(event_of(event::kPausing, "a checkpoint is asked for"));
  return plan;
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
  next.pause->outcome = PauseOutcome::kRefused;
  next.pause->recorded_at = stamp(s.now);
  next.pause->step = last_committed(next);
  next.pause->message = fmt::format("{}; the job runs on and stops at its next checkpoint", why);
  Plan plan = write_ahead(s, std::move(next), Move::kRefusePause);
  plan.policy = "pause";
  plan.events.push_back(event_of(event::kPauseRefused, plan.status->pause->message));
  return plan;
}

Plan broken_off(const Situation& s, const Breakage& broken) {
  Plan plan = end_with(s, cut_off(s, "a rank was lost while the job paused"));
  plan.confirm_absent = broken.missing;
  return plan;
}

std::optional<Plan> watch(const Situation& s) {
  if (const auto step = committed_step(s)) return end_with(s, committed(*step));
  if (s.view.whole() && s.view.succeeded == s.view.desired) return end_with(s, stopped(s));
  if (const auto broken = find_breakage(s)) return broken_off(s, *broken);
  const api::Report* const report = report_of(s.seen, s.view, 0);
  const bool failed = report != nullptr && (report->pause.state == ReportPauseState::kFailed ||
                                            report->pause.state == ReportPauseState::kTimedOut);
  if (!failed && s.now < pause_deadline(s)) return std::nullopt;
  const std::string_view why =
      failed ? "the trainer could not save" : "no checkpoint within the deadline";
  if (s.spec.checkpoint.pause.policy == api::PausePolicy::kCommitted) return refuse(s, why);
  return end_with(s, cut_off(s, why));
}

}  // namespace

WallTime pause_deadline(const Situation& s) {
  return std::chrono::time_point_cast<WallTime::duration>(
      s.status.pause->requested_at.value_or(s.now) + s.spec.checkpoint.pause.deadline.span);
}

std::optional<Plan> plan_pause(const Situation& s) {
  if (!s.view.live()) return std::nullopt;
  const bool refused = pause_refused(s.status);
  const bool asked = is_pausing(s.status) || refused;
  if (!s.spec.suspend) return asked ? std::optional(drop(s)) : std::nullopt;
  if (!asked) return begin(s);
  if (!refused) return watch(s);
  if (const auto step = committed_step(s)) return end_with(s, committed(*step));
  if (const auto step = newer_checkpoint(s)) return end_with(s, committed(*step));
  if (const auto broken = find_breakage(s)) return broken_off(s, *broken);
  return std::nullopt;
}

api::ReportReply reply_to_ranks(const Situation& s) {
  if (!s.view.live()) return {};
  api::ReportReply reply;
  // As it is on record, not as it is about to be: a leader that comes after this one says the same.
  if (s.status.checkpoint)
    reply.checkpoint_interval_seconds = s.status.checkpoint->interval_seconds;
  const bool asked = is_pausing(s.status) || pause_refused(s.status);
  if (!s.spec.suspend || !asked) return reply;
  const bool refused = pause_refused(s.status);
  const auto left = refused ? s.spec.checkpoint.pause.deadline.span : pause_deadline(s) - s.now;
  reply.request = api::ReportRequest::kPause;
  reply.deadline_seconds =
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::seconds>(left).count());
  return reply;
}

}  // namespace amdahl::training
