// A job whose attempt was ended by a pause: everything is given back, then it waits, then the next
// attempt goes on from the newest checkpoint.

#include "operator/api/condition.hpp"
#include "operator/training/cleanup.hpp"
#include "operator/training/events.hpp"
#include "operator/training/policies.hpp"
#include "operator/training/status_of.hpp"
#include "operator/training/template_check.hpp"

namespace amdahl::training {
namespace {

Plan resume(const Situation& s) {
  TrainingJobStatus next = s.status;
  if (const auto fault = spec_fault(s.spec, s.pods)) {  // it may have been edited while paused
    finish_job(next, s, api::condition::kFailed, api::reason::kInvalidSpec, *fault);
    Plan plan = write_ahead(s, std::move(next), Move::kGiveUp);
    plan.events.push_back(event_of(api::reason::kInvalidSpec, *fault));
    return plan;
  }
  begin_attempt(next, s);
  const auto from = next.attempts.back().resumed_from_step;
  Plan plan = write_ahead(s, std::move(next), Move::kResume);
  plan.events.push_back(
      event_of(event::kResumed, from ? fmt::format("from step {}", *from) : "from the start"));
  return plan;
}

}  // namespace

std::optional<Plan> plan_parked(const Situation& s) {
  if (!is_parked(s.status)) return std::nullopt;
  // A pause that is recorded is finished first: what watches Suspended sees it become True.
  if (!s.spec.suspend && api::is_true(s.status.conditions, api::condition::kSuspended)) {
    Plan plan = resume(s);
    plan.policy = "resume";
    return plan;
  }
  if (auto plan = settle(s)) return plan;
  Plan plan{.policy = "park"};
  clear_pods(plan, s, Leave::kNothing, "Paused");
  clear_gang(plan, s);
  if (!plan.acts()) show(plan, s);
  return plan;
}

}  // namespace amdahl::training
