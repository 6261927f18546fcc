// The metric of status writes; docs/reference/metrics.md explains it.
//
// Thread: one. Lifetime: the registry outlives the handle; make it once.
#pragma once

#include "base/metrics.hpp"

namespace amdahl::training {

inline Counter status_refused_counter(MetricsRegistry& registry) {
  return registry.counter(
      {"amdahl_training_status_refused_total", "Statuses written again without reports.", {}});
}

}  // namespace amdahl::training
