// How often to save, and how long a pause would take: arithmetic on what was measured.
//
// Pure; thread any; failure: none, what cannot be known is absent.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace amdahl::checkpoint {

using Seconds = std::chrono::duration<double>;

struct IntervalBounds {
  Seconds min = Seconds(60);
  Seconds max = Seconds(3600);
};
// Young's and Daly's optimum, sqrt(2 * stall * mtbf): what saving costs and what failures lose are
// equal there. Without a measured stall or failure it is the upper bound.
Seconds save_interval(Seconds stall, Seconds mean_time_between_failures,
                      const IntervalBounds& bounds);

// Measured of earlier saves; a newer one counts for a quarter.
struct SaveRates {
  double snapshot_bytes_per_second = 0;
  double upload_bytes_per_second = 0;
  Seconds commit = Seconds(0);  // from the last receipt to the manifest
};
struct SaveMeasured {
  std::int64_t state_bytes = 0;
  std::int64_t uploaded_bytes = 0;
  Seconds snapshot = Seconds(0);
  Seconds upload = Seconds(0);
  Seconds commit = Seconds(0);
};
SaveRates updated(const SaveRates& rates, const SaveMeasured& save);

struct PauseWork {
  std::int64_t state_bytes = 0;   // to be copied, and then uploaded
  std::int64_t queued_bytes = 0;  // of saves that are under way
};
// From "save now" to a commit. Nothing before the first save was measured.
std::optional<Seconds> pause_latency(const PauseWork& work, const SaveRates& rates);

}  // namespace amdahl::checkpoint
