// The metric of the watches; docs/reference/metrics.md explains it.
//
// Thread: one. Lifetime: what `restarts` refers to outlives every rendering of the registry.
#pragma once

#include <functional>
#include <vector>

#include "base/metrics.hpp"

namespace amdahl::training {

inline void show_watch_restarts(MetricsRegistry& registry,
                                std::function<std::vector<Sample>()> restarts) {
  registry.counters_at_render(
      {"amdahl_watch_restarts_total", "Watches that were opened again, by resource.", {}},
      std::move(restarts));
}

}  // namespace amdahl::training
