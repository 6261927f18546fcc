// A metric from the words of a line. Pure. Failure: none; what is no number is left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "operator/api/report.hpp"
#include "runtime/launch/cut.hpp"
#include "runtime/launch/text_scan.hpp"

namespace amdahl::launch {

inline void add_metric(std::vector<api::ReportMetric>& metrics, std::string_view name,
                       std::string_view value) {
  constexpr std::size_t kDigits = 17;  // enough for any double
  name = trim(name);
  value = trim(value);
  if (metrics.size() >= api::kReportMetricsMax || name.empty() || !is_number(value)) return;
  if (value.size() > api::kReportMetricValueMax) value = value.substr(0, kDigits);
  metrics.push_back({.name = std::string(cut_utf8(name, api::kReportMetricNameMax)),
                     .value = std::string(value)});
}

}  // namespace amdahl::launch
