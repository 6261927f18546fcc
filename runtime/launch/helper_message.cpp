#include "runtime/launch/helper_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_dump.hpp"
#include "runtime/launch/cut.hpp"
#include "runtime/launch/json_input.hpp"

namespace amdahl::launch {
namespace {

constexpr std::string_view kFileScheme = "file://";

bool valid_count(std::optional<std::int64_t> value) {
  return value && *value >= 0 && *value <= api::kReportIntegerMax;
}

std::optional<std::int64_t> count_in(const Json& json, std::string_view key) {
  std::optional<std::int64_t> value;
  if (const auto place = json.find(key); place != json.end()) read_input(*place, value);
  return valid_count(value) ? value : std::nullopt;
}

template <class T>
T value_in(const Json& json, std::string_view key) {
  T value{};
  if (const auto place = json.find(key); place != json.end()) read_input(*place, value);
  return value;
}

std::chrono::nanoseconds seconds_in(const Json& json, std::string_view key) {
  const double seconds = value_in<double>(json, key);
  if (!std::isfinite(seconds) || seconds < 0) return {};
  constexpr double kYear = 365.0 * 24 * 3600;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(seconds, kYear) * 1e9));
}

std::string metric_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return fmt::format("{}", value.get<std::int64_t>());
  if (value.is_number()) return fmt::format("{:.9g}", value.get<double>());
  return {};
}

std::vector<api::ReportMetric> metrics_in(const Json& json) {
  std::vector<api::ReportMetric> metrics;
  const auto place = json.find("metrics");
  if (place == json.end() || !place->is_object()) return metrics;
  for (const auto& [name, value] : place->items()) {
    const std::string text = metric_text(value);
    if (name.empty() || text.empty()) continue;
    metrics.push_back({.name = std::string(cut_utf8(name, api::kReportMetricNameMax)),
                       .value = std::string(cut_utf8(text, api::kReportMetricValueMax))});
    if (metrics.size() == api::kReportMetricsMax) break;
  }
  return metrics;
}

// Scripts say /path or an address; what is reported is an address.
std::string path_in(const Json& json) {
  std::string path = value_in<std::string>(json, "path");
  if (path.starts_with('/')) path.insert(0, kFileScheme);
  // A path that was cut leads nowhere; none at all is more honest.
  return path.size() <= api::kReportPathMax ? path : std::string();
}

std::optional<double> span_in(const Json& json, std::string_view key) {
  std::optional<double> value;
  if (const auto place = json.find(key); place != json.end()) read_input(*place, value);
  const bool valid = value && std::isfinite(*value) && *value >= 0 &&
                     *value <= static_cast<double>(api::kReportSecondsMax);
  return valid ? value : std::nullopt;
}

std::int64_t small_count_in(const Json& json, std::string_view key) {
  return std::min(count_in(json, key).value_or(0), api::kReportCountMax);
}

std::optional<api::ReportCheckpoint> checkpoint_in(const Json& json) {
  const auto step = count_in(json, "step");
  if (!step) return std::nullopt;
  return api::ReportCheckpoint{
      .step = *step,
      .path = path_in(json),
      .bytes = count_in(json, "bytes").value_or(0),
      .manifest_digest = std::string(
          cut_utf8(value_in<std::string>(json, "manifestDigest"), api::kReportDigestMax)),
      .stall_seconds = span_in(json, "stallSeconds"),
      .upload_lag_seconds = span_in(json, "uploadLagSeconds"),
      .predicted_pause_seconds = span_in(json, "predictedPauseSeconds"),
      .failed_saves = small_count_in(json, "failedSaves"),
      .orphans_collected = small_count_in(json, "orphansCollected")};
}

}  // namespace

std::optional<HelperMessage> read_helper_line(std::string_view line) {
  if (line.size() > kHelperLineBytesMax) return std::nullopt;
  const Json json = parse_input(line);
  if (!json.is_object()) return std::nullopt;
  const auto kind = value_in<std::optional<HelperKind>>(json, "type");
  if (!kind) return std::nullopt;
  HelperMessage message{.kind = *kind};
  message.local_rank = count_in(json, "localRank");
  message.hook = value_in<bool>(json, "hook");
  message.phase = value_in<std::optional<api::ReportPhase>>(json, "phase");
  message.step = count_in(json, "step");
  message.total = count_in(json, "total");
  message.data_wait = seconds_in(json, "dataWait");
  message.metrics = metrics_in(json);
  message.message = cut_utf8(value_in<std::string>(json, "message"), api::kReportErrorMessageMax);
  message.failed_saves = small_count_in(json, "failedSaves");
  if (message.kind == HelperKind::kCommitted) {
    message.checkpoint = checkpoint_in(json);
    if (!message.checkpoint) return std::nullopt;
  }
  return message;
}

std::string stop_line(std::chrono::seconds deadline) {
  return fmt::format("{{\"type\":\"stop\",\"deadlineSeconds\":{}}}\n", deadline.count());
}

std::string continue_line() {
  return "{\"type\":\"continue\"}\n";
}

std::string interval_line(std::chrono::seconds interval) {
  return fmt::format("{{\"type\":\"interval\",\"seconds\":{}}}\n", interval.count());
}

std::optional<api::ReportCheckpoint> read_marker(std::string_view text) {
  const Json json = parse_input(text);
  return json.is_object() ? checkpoint_in(json) : std::nullopt;
}

}  // namespace amdahl::launch
