#include "operator/training/step_time.hpp"

#include "operator/training/attempt_view.hpp"

namespace amdahl::training {

void note_step_time(api::TrainingJobStatus& next, const api::Report& report, const Situation& s) {
  // A step that is recorded already is not made younger by being reported again, for example to a
  // process that has just started.
  const bool known = next.attempts.back().first_step && next.progress->step == report.step;
  if (known || !report.step) return;
  for (const RankReport& one : s.seen.reports)  // last words have no time
    if (&one.report == &report) next.progress->last_step_at = stamp(one.step_changed);
}

void forget_speed_in_silence(api::ProgressStatus& progress, WallTime now) {
  if (!api::is_silent(progress, now)) return;
  progress.step_seconds.reset();
  progress.eta_seconds.reset();
}

}  // namespace amdahl::training
