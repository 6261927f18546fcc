// The metrics of this folder; docs/reference/metrics.md explains each.
//
// Thread: one. Lifetime: the registry outlives the handles.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/metrics.hpp"

namespace amdahl::report {

enum class ReportResult : std::uint8_t { kTaken, kRefused, kThrottled, kUnchecked };
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
  }
  return "";
}
// From the HTTP status of the answer.
constexpr ReportResult result_of(int status) {
  if (status < 300) return ReportResult::kTaken;
  if (status == 429) return ReportResult::kThrottled;
  return status >= 500 ? ReportResult::kUnchecked : ReportResult::kRefused;
}

class ReportMetrics {
 public:
  explicit ReportMetrics(MetricsRegistry& registry)
      : reports_(registry.counter_family<ReportResult>(
            {"amdahl_reports_total", "Reports of pods, by what became of them.", {}}, {"result"})) {
  }
  void count(int status) { reports_.at(result_of(status)).increment(); }

 private:
  CounterFamily<ReportResult> reports_;
};

}  // namespace amdahl::report
