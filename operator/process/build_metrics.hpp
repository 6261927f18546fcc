// The metric that says which program this is; docs/reference/metrics.md explains it.
//
// Thread: one. Lifetime: that of the registry.
#pragma once

#include <string>

#include "base/metrics.hpp"

namespace amdahl {

inline void show_build(MetricsRegistry& registry, std::string version) {
  registry.gauge({"amdahl_build_info", "Which program this is.", {{"version", std::move(version)}}})
      .set(1);
}

}  // namespace amdahl
