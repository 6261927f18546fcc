// A job whose attempt was ended by a pause: pods and group are given back, then it waits, then the
// next attempt goes on from the newest checkpoint.

#include <algorithm>

#include "operator/api/condition.hpp"
#include "operator/training/checkpoint_check.hpp"
#include "operator/training/cleanup.hpp"
#include "operator/training/events.hpp"
#include "operator/training/policies.hpp"
#include "operator/training/status_of.hpp"
#include "operator/training/template_check.hpp"
#include "operator/training/unrecorded.hpp"

namespace amdahl::training {
namespace {

// The checkpoint that a paused job had, if spec.checkpoint.uri has changed since.
std::optional<api::CommittedCheckpoint> left_behind(const Situation& s,
                                                    const TrainingJobStatus& next) {
  const auto& before = s.status.checkpoint;
  if (!before || !before->last_committed || (next.checkpoint && next.checkpoint->last_committed))
    return std::nullopt;
  if (lies_below(before->last_committed->uri, s.spec.checkpoint.uri)) return std::nullopt;
  return before->last_committed;
}

PlannedEvent resumed_event(const Situation& s, const TrainingJobStatus& next) {
  if (const auto left = left_behind(s, next))
    return event_of(event::kCheckpointLeft,
                    fmt::format("attempt {} begins at the first step: step {} was saved at {}, and "
                                "spec.checkpoint.uri is {}. To go on from it, pause the job, set "
                                "the old uri again or name it in spec.checkpoint.initFrom, and "
                                "resume",
                                next.attempt, left->step, left->uri, s.spec.checkpoint.uri));
  const auto from = next.attempts.back().resumed_from_step;
  return event_of(event::kResumed, from ? fmt::format("from step {}", *from) : "from the start");
}

// Pods of the next attempt exist.
bool has_begun(const Situation& s) {
  return std::ranges::any_of(s.view.ours, [&](const PodSeen* pod) {
    return static_cast<std::int64_t>(pod->attempt) == s.status.attempt + 1 &&
           is_made_by_us(*pod, s.view, s.job());
  });
}

Plan record_resumed(const Situation& s) {
  TrainingJobStatus next = s.status;
  begin_attempt(next, s);
  Plan plan = write_ahead(s, std::move(next), Move::kResume);
  plan.policy = "resume";
  plan.events.push_back(resumed_event(s, *plan.status));
  return plan;
}

Plan resume(const Situation& s) {
  TrainingJobStatus next = s.status;
  if (const auto fault = job_fault(s.job(), s.pods)) {  // it may have been edited while paused
    finish_job(next, s, api::condition::kFailed, api::reason::kInvalidSpec, *fault);
    Plan plan = write_ahead(s, std::move(next), Move::kGiveUp);
    plan.policy = "resume";
    plan.events.push_back(event_of(api::reason::kInvalidSpec, *fault));
    return plan;
  }
  begin_attempt(next, s);
  Plan plan = start_unrecorded(s, next, Move::kResume);
  // Looks belong to attempts on record, whatever pods somebody else may have put there.
  if (plan.look_at_checkpoint && !plan.status) return record_resumed(s);
  if (plan.status && plan.events.empty()) plan.events.push_back(resumed_event(s, *plan.status));
  return plan;
}

}  // namespace

// Pods that have to go, of an attempt that nobody has on record: it is put on record first and then
// ended like any other, so that what its pods held is accounted for.
std::optional<Plan> plan_unrecorded(const Situation& s) {
  const bool to_go = s.spec.suspend || s.spec.cancel;
  if (!is_parked(s.status) || !to_go || !has_begun(s)) return std::nullopt;
  return record_resumed(s);
}

std::optional<Plan> plan_parked(const Situation& s) {
  if (!is_parked(s.status)) return std::nullopt;
  // A pause that is recorded is finished first: what watches Suspended sees it become True.
  if (!s.spec.suspend && api::is_true(s.status.conditions, api::condition::kSuspended)) {
    return resume(s);
  }
  if (auto plan = settle(s)) return plan;
  Plan plan{.policy = "park"};
  clear_pods(plan, s, Leave::kNothing, "Paused");
  // The pods hold what others wait for, so they go first. The Service costs nobody anything and
  // stays for the next attempt.
  if (s.view.ours.empty()) clear_group(plan, s);
  if (!plan.acts()) show(plan, s);
  return plan;
}

}  // namespace amdahl::training
