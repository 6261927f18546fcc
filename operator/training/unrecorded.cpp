#include "operator/training/unrecorded.hpp"

#include <memory>

#include "operator/training/policies.hpp"
#include "operator/training/status_of.hpp"

namespace amdahl::training {

Plan start_unrecorded(const Situation& s, const TrainingJobStatus& next, Move move) {
  auto job = std::make_shared<TrainingJob>(s.job());
  job->status = complete_status(s, next);
  Observed seen = s.seen;
  seen.job = job;
  seen.reports_before = std::move(seen.reports);  // they are of the attempt on record
  seen.reports.clear();
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
  const bool waits = plan.look_at_checkpoint || record_wait(as_if);
  if (!plan.status && !plan.acts() && !waits) plan.status = job->status;
  if (plan.status) plan.move = move;
  return plan;
}

}  // namespace amdahl::training
