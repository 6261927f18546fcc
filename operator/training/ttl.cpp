// Jobs that ended go by themselves, with their pods, when nobody needs them any more.

#include "operator/api/condition.hpp"
#include "operator/training/policies.hpp"

namespace amdahl::training {

void plan_ttl(Plan& plan, const Situation& s) {
  if (!s.spec.ttl_after_finished.fixed) return;
  for (const api::Condition& condition : s.status.conditions) {
    const bool terminal = condition.type == api::condition::kSucceeded ||
                          condition.type == api::condition::kFailed ||
                          condition.type == api::condition::kCancelled;
    if (!terminal || condition.status != api::ConditionStatus::kTrue || !condition.changed)
      continue;
    const auto due = *condition.changed + s.spec.ttl_after_finished.fixed->span;
    if (s.now >= due) {
      plan.delete_job = true;
      plan.policy = "ttl";
    } else {
      plan.look_again_in(due - s.now);
    }
  }
}

}  // namespace amdahl::training
