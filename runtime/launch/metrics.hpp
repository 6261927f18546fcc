// The names of what the launcher serves at /metrics; docs/reference/metrics.md explains them.
//
// Written as text by metrics_text(): the registry of base/metrics.hpp is a shared library.
#pragma once

#include <string_view>

namespace amdahl::launch::metric {

inline constexpr std::string_view kPhaseSeconds = "amdahl_launch_phase_seconds_total";
inline constexpr std::string_view kStep = "amdahl_launch_step";
inline constexpr std::string_view kStepSeconds = "amdahl_launch_step_seconds";
inline constexpr std::string_view kCheckpointStep = "amdahl_launch_checkpoint_step";
inline constexpr std::string_view kMemoryPeakBytes = "amdahl_launch_memory_peak_bytes";
inline constexpr std::string_view kReportsSent = "amdahl_launch_reports_sent_total";
inline constexpr std::string_view kReportsFailed = "amdahl_launch_reports_failed_total";
inline constexpr std::string_view kLogBytes = "amdahl_launch_log_bytes_total";
inline constexpr std::string_view kLogBytesUnread = "amdahl_launch_log_bytes_unread_total";
inline constexpr std::string_view kHelperLines = "amdahl_launch_helper_lines_total";
inline constexpr std::string_view kHelperLinesBad = "amdahl_launch_helper_lines_bad_total";

}  // namespace amdahl::launch::metric
