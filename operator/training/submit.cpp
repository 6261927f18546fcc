// The first status of a job: attempt 1, or at once what makes attempts pointless.
//
// Attempt 1 needs no record before its pods are made, as later ones do. Its number follows from the
// empty status, and its pods from a spec that cannot change before it is suspended; whoever comes
// next finds the pods and goes on with them. So a gang is not kept waiting for a status, and the
// status that follows has more to say.

#include <algorithm>
#include <memory>

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

Plan give_up(const Situation& s, TrainingJobStatus next, const std::string& fault) {
  finish_job(next, s, api::condition::kFailed, api::reason::kInvalidSpec, fault);
  Plan plan = write_ahead(s, std::move(next), Move::kGiveUp);
  plan.policy = "submit";
  plan.events.push_back(event_of(api::reason::kInvalidSpec, fault));
  return plan;
}

Plan record(const Situation& s, TrainingJobStatus next) {
  Plan plan = write_ahead(s, std::move(next), Move::kSubmit);
  plan.policy = "submit";
  return plan;
}

Plan created_suspended(const Situation& s, TrainingJobStatus next) {
  next.pause = api::PauseStatus{.requested_at = stamp(s.now),
                                .generation = s.job().metadata.generation,
                                .outcome = api::PauseOutcome::kNothingToSave,
                                .recorded_at = stamp(s.now),
                                .message = "created suspended"};
  return record(s, std::move(next));
}

// What would be done if attempt 1 were on record.
Plan start_first(const Situation& s, const TrainingJobStatus& next) {
  auto job = std::make_shared<TrainingJob>(s.job());
  job->status = complete_status(s, next);
  Observed seen = s.seen;
  seen.job = job;
  const AttemptView view = view_of(seen);
  const Situation as_if{.seen = seen,
                        .view = view,
                        .spec = s.spec,
                        .status = job->status,
                        .pods = s.pods,
                        .now = s.now};
  if (auto plan = plan_refused(as_if)) return *std::move(plan);
  Plan plan = plan_start(as_if);
  plan.as_if = job;
  if (!plan.status && !plan.acts() && !record_wait(as_if)) plan.status = job->status;
  if (plan.status) plan.move = Move::kSubmit;
  return plan;
}

}  // namespace

std::optional<Plan> plan_submit(const Situation& s) {
  if (s.status.attempt != 0 || s.status.pause || is_finished(s.status) ||
      !s.status.conditions.empty())
    return std::nullopt;
  const bool begun = !s.view.ours.empty();
  if (s.spec.cancel && !begun) return std::nullopt;  // cancel.cpp has the words for it
  TrainingJobStatus next = s.status;
  next.restarts = 0;
  if (!begun) {
    if (const auto fault = job_fault(s)) return give_up(s, std::move(next), *fault);
    if (s.spec.suspend) return created_suspended(s, std::move(next));
  }
  begin_attempt(next, s);
  const bool only_first = std::ranges::all_of(
      s.view.ours, [](const PodSeen* pod) { return static_cast<std::int64_t>(pod->attempt) == 1; });
  // Pods that have to go are the business of who finds them on record.
  if (s.spec.suspend || s.spec.cancel || !only_first) return record(s, std::move(next));
  return start_first(s, next);
}

}  // namespace amdahl::training
