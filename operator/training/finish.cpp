// Every rank ended well. A trainer that was asked to pause also exits with 0: that is no success.

#include "operator/training/events.hpp"
#include "operator/training/policies.hpp"
#include "operator/training/status_of.hpp"

namespace amdahl::training {
namespace {

bool heeds_pause(const api::Report& report) {
  using enum api::ReportPauseState;
  if (report.pause.state == kSaving || report.pause.state == kCommitted) return true;
  // A signal was sent, and it ended without saving: nothing says that it was through.
  const bool killed = report.pause.way == api::ReportPauseWay::kTerminate;
  const bool told = killed || report.pause.way == api::ReportPauseWay::kUserSignal;
  return told && (report.pause.state == kFailed || (killed && report.pause.state != kNone));
}

// Ranks stop together, whichever of them was told: any of them may know why.
bool stopped_for_pause(const Situation& s) {
  const api::Report* const counts = counting_report(s);
  const bool counted = counts != nullptr && counts->total_steps && counts->step;
  if (counted && *counts->step >= *counts->total_steps) return false;
  // Nobody says how it ended: a training that was asked to stop is not called a success for that.
  if (is_pausing(s.status) && (counted || counts == nullptr)) return true;
  for (std::uint32_t rank = 0; rank < s.view.ranks.size(); ++rank)
    if (const api::Report* report = report_of(s.seen, s.view, rank);
        report != nullptr && heeds_pause(*report))
      return true;
  return false;
}

// The wish to pause was taken back after the trainer had heeded it: it goes on in a new attempt.
Plan go_on(const Situation& s) {
  TrainingJobStatus next = s.status;
  next.pause.reset();
  if (!next.budgets) next.budgets.emplace();
  ++next.budgets->pauses;
  end_attempt(next, s, api::AttemptOutcome::kPaused, {});
  begin_attempt(next, s);
  Plan plan = write_ahead(s, std::move(next), Move::kResume);
  plan.events.push_back(event_of(event::kResumed, "the trainer had stopped for a pause"));
  return plan;
}

}  // namespace

std::optional<Plan> plan_finish(const Situation& s) {
  if (!s.view.live() || !s.view.whole() || s.view.succeeded != s.view.desired) return std::nullopt;
  Plan plan;
  if (stopped_for_pause(s)) {
    if (s.spec.suspend) return std::nullopt;  // pause.cpp ends it
    plan = go_on(s);
  } else {
    TrainingJobStatus next = s.status;
    next.pause.reset();
    end_attempt(next, s, api::AttemptOutcome::kSucceeded, {});
    finish_job(next, s, api::condition::kSucceeded, api::reason::kCompleted, "");
    plan = write_ahead(s, std::move(next), Move::kComplete);
    plan.events.push_back(event_of(event::kCompleted, "every rank ended well"));
  }
  plan.policy = "finish";
  return plan;
}

}  // namespace amdahl::training
