// The first status of a job: attempt 1, which needs no record before its pods are made
// (unrecorded.hpp), or at once what makes attempts pointless.

#include <algorithm>

#include "operator/training/events.hpp"
#include "operator/training/policies.hpp"
#include "operator/training/status_of.hpp"
#include "operator/training/template_check.hpp"
#include "operator/training/unrecorded.hpp"

namespace amdahl::training {
namespace {

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

}  // namespace

std::optional<Plan> plan_submit(const Situation& s) {
  if (s.status.attempt != 0 || s.status.pause || is_finished(s.status) ||
      !s.status.conditions.empty())
    return std::nullopt;
  const bool begun = !s.view.ours.empty();
  if (s.spec.cancel && !begun) return std::nullopt;  // cancel.cpp has the words for it
  TrainingJobStatus next = s.status;
  next.restarts = 0;
  // Pods that exist prove nothing: anybody can make one that looks like ours, and an older operator
  // may have had fewer rules.
  if (const auto fault = job_fault(s.job(), s.pods)) return give_up(s, std::move(next), *fault);
  if (!begun && s.spec.suspend) return created_suspended(s, std::move(next));
  begin_attempt(next, s);
  const bool only_first = std::ranges::all_of(
      s.view.ours, [](const PodSeen* pod) { return static_cast<std::int64_t>(pod->attempt) == 1; });
  // Pods that have to go are the business of who finds them on record.
  if (s.spec.suspend || s.spec.cancel || !only_first) return record(s, std::move(next));
  return start_unrecorded(s, next, Move::kSubmit);
}

}  // namespace amdahl::training
