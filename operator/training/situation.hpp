// What every policy gets: what was seen, the attempt, the time. Made once per decision.
#pragma once

#include "operator/training/attempt_view.hpp"
#include "operator/training/pod_options.hpp"

namespace amdahl::training {

struct Situation {
  const Observed& seen;
  const AttemptView& view;
  const api::TrainingJobSpec& spec;
  const api::TrainingJobStatus& status;
  const PodOptions& pods;
  WallTime now{};

  const TrainingJob& job() const { return *seen.job; }
};

}  // namespace amdahl::training
