// How long jobs stay in each phase, and how long they take to run again after a pause.
//
// Observed as the cache changes: a phase that this process did not see begin is not measured.
// Thread: one. Lifetime: the registry outlives it. Failure: none.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "operator/training/types.hpp"

namespace amdahl::training {

class PhaseMetrics {
 public:
  explicit PhaseMetrics(MetricsRegistry& registry);

  void note(const TrainingJob& job, Monotonic now);
  void forget(const std::string& uid) { seen_.erase(uid); }

 private:
  struct Seen {
    api::Phase phase = api::Phase::kUnknown;
    std::optional<Monotonic> since = {};    // none: it had begun before we looked
    std::optional<Monotonic> resumed = {};  // a pause ended, and not all ranks run yet
  };
  void leave(Seen& seen, api::Phase next, Monotonic now);

  std::map<std::string, Seen> seen_;  // by UID, of jobs that exist
  HistogramFamily<api::Phase> phases_;
  Histogram resumes_;
};

}  // namespace amdahl::training
