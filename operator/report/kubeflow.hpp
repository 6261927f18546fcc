// The progress protocol of Kubeflow Trainer, as unmodified Hugging Face scripts speak it.
//
// Pure. Failure: Errc::kInvalid with the path of what is wrong; nothing of it is taken then.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "operator/api/report.hpp"

namespace amdahl::report {

inline constexpr std::size_t kKubeflowBytesMax = std::size_t{64} << 10U;  // as Kubeflow's own

struct Progress {
  std::optional<std::int64_t> step = {};
  std::optional<std::int64_t> total_steps = {};
  std::optional<std::int64_t> percent = {};
  std::optional<std::int64_t> remaining_seconds = {};
  std::vector<api::ReportMetric> metrics = {};  // at most api::kReportMetricsMax
  bool operator==(const Progress&) const = default;
};

// {"trainerStatus": {...}}, or what is inside it.
Result<Progress> read_kubeflow(std::string_view body);

}  // namespace amdahl::report
