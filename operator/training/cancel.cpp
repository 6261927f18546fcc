// Cancel: terminal, recorded with who asked and how far the job had come; never a delete.

#include "operator/api/names.hpp"
#include "operator/training/events.hpp"
#include "operator/training/policies.hpp"
#include "operator/training/status_of.hpp"

namespace amdahl::training {

std::optional<Plan> plan_cancel(const Situation& s) {
  if (!s.spec.cancel) return std::nullopt;
  TrainingJobStatus next = s.status;
  if (s.view.live()) end_attempt(next, s, api::AttemptOutcome::kCancelled, {});
  api::CancelStatus cancel{.requested_at = stamp(s.now)};
  cancel.requested_by =
      s.job().metadata.annotations.find(api::annotation::kRequestedBy).value_or("");
  if (!next.attempts.empty()) cancel.last_step = next.attempts.back().last_step;
  next.cancel = std::move(cancel);
  next.restarts = next.restarts.value_or(0);
  finish_job(next, s, api::condition::kCancelled, api::reason::kCancelRequested, "");
  Plan plan = write_ahead(s, std::move(next), Move::kCancel);
  plan.policy = "cancel";
  const std::string& who = plan.status->cancel->requested_by;
  plan.events.push_back(
      event_of(event::kCancelled, who.empty() ? "spec.cancel is true" : "asked for by " + who));
  return plan;
}

}  // namespace amdahl::training
