// The one word that columns show for a TrainingJob.
//
// Pure and total. For display only: nothing may decide on a phase, because it says less than the
// conditions it is derived from.
#pragma once

#include <string>

#include "operator/api/training_job_status.hpp"

namespace amdahl::api {

struct Summary {
  Phase phase = Phase::kPending;
  std::string reason = {};  // of the condition that decided, or what a pending gang waits for
  bool operator==(const Summary&) const = default;
};

// From conditions and counters; what `status.phase` and `status.reason` say already does not count.
Summary summarize(const TrainingJobStatus& status);

}  // namespace amdahl::api
