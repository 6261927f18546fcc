#include "checkpoint/engine/cadence.hpp"

#include <algorithm>
#include <cmath>

namespace amdahl::checkpoint {
namespace {

constexpr double kNewestShare = 0.25;

double mixed(double before, double now) {
  return before > 0 ? before + kNewestShare * (now - before) : now;
}
double rate(std::int64_t bytes, Seconds took) {
  return took.count() > 0 ? static_cast<double>(bytes) / took.count() : 0;
}

}  // namespace

Seconds save_interval(Seconds stall, Seconds mean_time_between_failures,
                      const IntervalBounds& bounds) {
  const double product = 2 * stall.count() * mean_time_between_failures.count();
  if (!(stall.count() > 0) || !(product > 0) || !std::isfinite(product)) return bounds.max;
  return std::clamp(Seconds(std::sqrt(product)), std::min(bounds.min, bounds.max), bounds.max);
}

SaveRates updated(const SaveRates& rates, const SaveMeasured& save) {
  SaveRates next = rates;
  if (const double now = rate(save.state_bytes, save.snapshot); now > 0)
    next.snapshot_bytes_per_second = mixed(rates.snapshot_bytes_per_second, now);
  if (const double now = rate(save.uploaded_bytes, save.upload); now > 0)
    next.upload_bytes_per_second = mixed(rates.upload_bytes_per_second, now);
  if (save.commit.count() > 0)
    next.commit = Seconds(mixed(rates.commit.count(), save.commit.count()));
  return next;
}

std::optional<Seconds> pause_latency(const PauseWork& work, const SaveRates& rates) {
  if (!(rates.snapshot_bytes_per_second > 0) || !(rates.upload_bytes_per_second > 0))
    return std::nullopt;
  const auto state = static_cast<double>(work.state_bytes);
  const auto queued = static_cast<double>(work.queued_bytes);
  return Seconds(state / rates.snapshot_bytes_per_second +
                 (state + queued) / rates.upload_bytes_per_second) +
         rates.commit;
}

}  // namespace amdahl::checkpoint
