#include "operator/report/kubeflow.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "base/json_decode.hpp"
#include "base/list_keys.hpp"
#include "base/validate.hpp"

namespace amdahl::report {
namespace {

constexpr std::uint32_t kMetricsMax = 64;

struct TrainerStatus {
  std::optional<std::int64_t> percent = {};
  std::optional<std::int64_t> remaining_seconds = {};
  std::vector<api::ReportMetric> metrics = {};
};
template <class V>
constexpr void fields(V& v, TrainerStatus& status) {
  v.optional("progressPercentage", status.percent, {.min = 0, .max = 100});
  v.optional("estimatedRemainingSeconds", status.remaining_seconds,
             {.min = 0, .max = api::kReportSecondsMax});
  v.optional("metrics", status.metrics, {.items_max = kMetricsMax});
}

struct Posted {
  std::optional<TrainerStatus> trainer_status = {};
};
template <class V>
constexpr void fields(V& v, Posted& posted) {
  v.optional("trainerStatus", posted.trainer_status);
}

// Hugging Face writes steps as "120" and as "120.0".
std::optional<std::int64_t> whole(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool read = error == std::errc() && end == text.data() + text.size();
  if (!read || !(value >= 0 && value <= static_cast<double>(api::kReportIntegerMax)))
    return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace

Result<Progress> read_kubeflow(std::string_view body) {
  TRY(const Posted posted, decode<Posted>(body));
  TrainerStatus status;
  if (posted.trainer_status) {
    status = *posted.trainer_status;
  } else {
    TRY(status, decode<TrainerStatus>(body));
  }
  keep_last_of_each_key(status.metrics, "name");
  TRY(validate(status));
  Progress progress{.percent = status.percent, .remaining_seconds = status.remaining_seconds};
  for (api::ReportMetric& metric : status.metrics) {
    if (metric.name == "current_step")
      progress.step = whole(metric.value);
    else if (metric.name == "total_steps")
      progress.total_steps = whole(metric.value);
    else if (progress.metrics.size() < api::kReportMetricsMax)
      progress.metrics.push_back(std::move(metric));
  }
  return progress;
}

}  // namespace amdahl::report
