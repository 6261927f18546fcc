// Reports as text: for the wire, for the termination message, and as Prometheus metrics.
//
// Pure. Failure: none; what does not fit is cut, least needed first.
#pragma once

#include <cstdint>
#include <string>

#include "operator/api/report.hpp"

namespace amdahl::launch {

std::string report_json(const api::Report& report);

// Valid JSON of at most api::kTerminationMessageBytesMax bytes, whatever the report holds. Goes
// first: the message of the error beyond what explains it, metrics, phases, paths.
std::string termination_message(api::Report report);

struct OwnCounters {
  std::uint64_t reports_sent = 0;
  std::uint64_t reports_failed = 0;
  std::uint64_t log_bytes = 0;
  std::uint64_t log_bytes_unread = 0;  // copied to the log, but not looked at
  std::uint64_t helper_lines = 0;
  std::uint64_t helper_lines_bad = 0;
};
// What /metrics answers.
std::string metrics_text(const api::Report& report, const OwnCounters& counters);

}  // namespace amdahl::launch
