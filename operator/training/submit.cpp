// The first status of a job: attempt 1, or at once what makes attempts pointless.

#include "operator/training/events.hpp"
#include "operator/training/policies.hpp"
#include "operator/training/status_of.hpp"
#include "operator/training/template_check.hpp"

namespace amdahl::training {
namespace {

// The CRD says the same; an older one may not.
std::optional<std::string> job_fault(const Situation& s) {
  const std::string& name = s.job().metadata.name;
  if (name.size() > api::kJobNameMax)
    return fmt::format("metadata.name: {} characters; with more than {} its ranks have no DNS name",
                       name.size(), api::kJobNameMax);
  return spec_fault(s.spec, s.pods);
}

}  // namespace

std::optional<Plan> plan_submit(const Situation& s) {
  if (s.status.attempt != 0 || s.status.pause || is_finished(s.status) ||
      !s.status.conditions.empty())
    return std::nullopt;
  TrainingJobStatus next = s.status;
  next.restarts = 0;
  if (s.spec.cancel) return std::nullopt;  // cancel.cpp has the words for it
  if (const auto fault = job_fault(s)) {
    finish_job(next, s, api::condition::kFailed, api::reason::kInvalidSpec, *fault);
    Plan plan = write_ahead(s, std::move(next), Move::kGiveUp);
    plan.policy = "submit";
    plan.events.push_back(event_of(api::reason::kInvalidSpec, *fault));
    return plan;
  }
  if (s.spec.suspend) {
    next.pause = api::PauseStatus{.requested_at = stamp(s.now),
                                  .generation = s.job().metadata.generation,
                                  .outcome = api::PauseOutcome::kNothingToSave,
                                  .recorded_at = stamp(s.now),
                                  .message = "created suspended"};
  } else {
    begin_attempt(next, s);
  }
  Plan plan = write_ahead(s, std::move(next), Move::kSubmit);
  plan.policy = "submit";
  return plan;
}

}  // namespace amdahl::training
