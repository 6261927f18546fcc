#include "operator/waste/fallback.hpp"

#include <algorithm>

#include "operator/waste/phase_rows.hpp"
#include "operator/waste/timeline.hpp"

namespace amdahl::waste {
namespace {

std::int64_t share(std::int64_t seconds, std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : static_cast<std::int64_t>(WideMicros{seconds} * part / whole);
}

// A status is read back from the API server: anybody may have written anything.
std::int64_t bounded(std::int64_t value) {
  return std::clamp<std::int64_t>(value, 0, api::kIntegerMax);
}

// Absent: it began anew.
std::int64_t first_of(const api::AttemptStatus& attempt) {
  return bounded(attempt.resumed_from_step.value_or(0));
}

// What the attempts keep when the one after all of them goes on from `step`.
class Kept {
 public:
  Kept(std::span<const api::AttemptStatus> attempts, std::int32_t settled)
      : attempts_(attempts), settled_(settled) {}

  std::int64_t seconds(std::int64_t step) const {
    std::int64_t sum = 0;
    for (std::size_t i = attempts_.size(); i-- > 0;) {
      const api::AttemptStatus& one = attempts_[i];
      const std::int64_t first = first_of(one);
      const std::int64_t made =
          std::max<std::int64_t>(0, bounded(one.last_step.value_or(0)) - first);
      const std::int64_t kept = std::clamp<std::int64_t>(step - first, 0, made);
      if (one.number <= settled_) sum += share(bounded(one.trained_gpu_seconds), kept, made);
      step = std::min(step, first);
    }
    return sum;
  }
  // Steps of attempts that are forgotten.
  std::int64_t forgotten(std::int64_t step) const {
    if (attempts_.empty() || attempts_.front().number <= 1) return 0;
    for (const api::AttemptStatus& one : attempts_) step = std::min(step, first_of(one));
    return step;
  }

 private:
  std::span<const api::AttemptStatus> attempts_;
  std::int32_t settled_ = 0;
};

}  // namespace

void recount(api::GpuSecondsStatus& account, std::span<const api::AttemptStatus> attempts,
             const Fallback& fallback) {
  if (!account.settled) return;
  PerPhase<std::int64_t> phases = from_rows(account.settled->phases);
  std::int64_t& productive = phases[Phase::kProductive];
  std::int64_t& lost_work = phases[Phase::kLostWork];
  const Kept kept(attempts, account.settled->attempt);
  const std::int64_t believed = bounded(fallback.believed);
  const std::int64_t real = bounded(fallback.real);
  const std::int64_t before = kept.seconds(believed);
  std::int64_t lost = before - kept.seconds(real);
  const std::int64_t old_steps = kept.forgotten(believed);
  const std::int64_t gone = old_steps - kept.forgotten(real);
  // How much of it was lost before is forgotten too, so nothing can be given back.
  if (gone > 0) lost += share(std::max<std::int64_t>(0, productive - before), gone, old_steps);
  lost = std::clamp(lost, -lost_work, productive);
  productive -= lost;
  lost_work += lost;
  account.settled->phases = to_rows(phases);
}

}  // namespace amdahl::waste
