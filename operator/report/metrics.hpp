// The metrics of this folder; docs/reference/metrics.md explains each.
//
// Thread: one. Lifetime: the registry outlives the handles.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/metrics.hpp"

namespace amdahl::report {

enum class ReportResult : std::uint8_t {
  kTaken,
  kRefused,
  kThrottled,
  kUnchecked,
  kFull,        // of jobs whose reports are kept
  kNotLeading,  // asked of a replica that waits
};
constexpr std::string_view name(ReportResult result) {
  switch (result) {
    case ReportResult::kTaken:
      return "taken";
    case ReportResult::kRefused:
      return "refused";
    case ReportResult::kThrottled:
      return "throttled";
    case ReportResult::kUnchecked:
      return "unchecked";
    case ReportResult::kFull:
      return "full";
    case ReportResult::kNotLeading:
      return "not_leading";
  }
  return "";
}

// `jobs` outlives the registry's last rendering.
inline void show_reported_jobs(MetricsRegistry& registry, std::function<std::size_t()> jobs) {
  registry.gauges_at_render({"amdahl_reported_jobs", "Jobs whose last reports are kept.", {}},
                            [jobs = std::move(jobs)] {
                              return std::vector<Sample>{{.value = static_cast<double>(jobs())}};
                            });
}

class ReportMetrics {
 public:
  explicit ReportMetrics(MetricsRegistry& registry)
      : reports_(registry.counter_family<ReportResult>(
            {"amdahl_reports_total", "Reports of pods, by what became of them.", {}}, {"result"})) {
  }
  void count(ReportResult result) { reports_.at(result).increment(); }

 private:
  CounterFamily<ReportResult> reports_;
};

}  // namespace amdahl::report
