#include "operator/training/phase_metrics.hpp"

namespace amdahl::training {
namespace {

using api::Phase;

bool is_terminal(Phase phase) {
  return phase == Phase::kSucceeded || phase == Phase::kFailed || phase == Phase::kCancelled;
}

}  // namespace

PhaseMetrics::PhaseMetrics(MetricsRegistry& registry)
    : phases_(registry.histogram_family<Phase>({"amdahl_training_job_phase_duration_seconds",
                                                "How long TrainingJobs stayed in a phase.",
                                                {}},
                                               {"phase"},
                                               {1, 5, 15, 60, 300, 900, 3600, 14'400, 86'400})),
      resumes_(registry.histogram({"amdahl_resume_latency_seconds",
                                   "Time from the wish to resume a paused job until all ranks run.",
                                   {}},
                                  {1, 5, 10, 30, 60, 120, 300, 600, 1800})) {}

void PhaseMetrics::note(const TrainingJob& job, Monotonic now) {
  const Phase phase = job.status.phase;
  const auto [entry, fresh] = seen_.try_emplace(std::string(job.metadata.uid));
  Seen& seen = entry->second;
  if (fresh) {
    seen = {.phase = phase};
    if (phase == Phase::kUnknown) seen.since = now;  // just created
    return;
  }
  if (phase != seen.phase) leave(seen, phase, now);
  // Pods are made before the status says that the pause is over.
  if (phase != Phase::kPaused) return;
  if (job.spec.suspend)
    seen.resumed.reset();
  else if (!seen.resumed)
    seen.resumed = now;
}

void PhaseMetrics::leave(Seen& seen, Phase next, Monotonic now) {
  if (seen.since && seen.phase != Phase::kUnknown)
    phases_.at(seen.phase).observe(now - *seen.since);
  if (seen.phase == Phase::kPaused && !seen.resumed) seen.resumed = now;
  if (next == Phase::kRunning && seen.resumed) resumes_.observe(now - *seen.resumed);
  if (next == Phase::kRunning || next == Phase::kPausing || is_terminal(next)) seen.resumed.reset();
  seen.phase = next;
  seen.since = now;
}

}  // namespace amdahl::training
