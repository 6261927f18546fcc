#include "operator/training/pause_watch.hpp"

#include <algorithm>

#include "operator/training/attempt_view.hpp"

namespace amdahl::training {

void PauseWatch::see(const api::TrainingJobStatus& status, Moment now) {
  // The times of a status can say anything, also what no nanoseconds can count.
  constexpr WallTime::duration kPassedMax = std::chrono::hours{24 * 365};
  if (!is_pausing(status)) return since_.reset();
  const api::PauseStatus& pause = *status.pause;
  const bool known = requested_at_ == pause.requested_at && generation_ == pause.generation;
  if (since_ && known) return;
  requested_at_ = pause.requested_at;
  generation_ = pause.generation;
  const WallTime::duration passed = now.wall - pause.requested_at.value_or(now.wall);
  since_ = now.steady - std::clamp(passed, WallTime::duration{0}, kPassedMax);
}

}  // namespace amdahl::training
