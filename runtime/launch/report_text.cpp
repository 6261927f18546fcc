#include "runtime/launch/report_text.hpp"

#include <fmt/format.h>

#include <iterator>

#include "base/json_dump.hpp"
#include "base/json_encode.hpp"
#include "runtime/launch/cut.hpp"
#include "runtime/launch/metrics.hpp"

namespace amdahl::launch {
namespace {

void cut_error(api::Report& report, std::size_t bytes_max) {
  if (!report.error) return;
  report.error->message = cut_utf8(report.error->message, bytes_max);
  report.error->where = cut_utf8(report.error->where, bytes_max / 4);
  report.error->type = cut_utf8(report.error->type, bytes_max / 4);
}

void cut_identity(api::Report& report) {
  constexpr std::size_t kShort = 64;
  for (std::string* text : {&report.job, &report.job_uid, &report.pod, &report.pod_uid})
    *text = cut_utf8(*text, kShort);
}

class MetricsText {
 public:
  explicit MetricsText(std::string& text) : out_(std::back_inserter(text)) {}
  void head(std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(out_, "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  void one(std::string_view name, std::string_view type, std::string_view help, double value) {
    head(name, type, help);
    fmt::format_to(out_, "{} {}\n", name, value);
  }
  void labelled(std::string_view name, std::string_view label, double value) {
    fmt::format_to(out_, "{}{{phase=\"{}\"}} {}\n", name, label, value);
  }

 private:
  std::back_insert_iterator<std::string> out_;
};

}  // namespace

std::string report_json(const api::Report& report) {
  return dump_json(encode(report));
}

std::string termination_message(api::Report report) {
  // The steps of a ladder, each of which takes something away; after the last nothing of unbounded
  // size is left. Escapes and replacement characters can make a text six times as long.
  constexpr std::size_t kErrorBytes[] = {1536, 768, 384, 128, 32};
  std::string text = report_json(report);
  const auto fits = [&] {
    text = report_json(report);
    return text.size() <= api::kTerminationMessageBytesMax;
  };
  if (fits()) return text;
  cut_error(report, kErrorBytes[0]);
  if (fits()) return text;
  report.metrics.clear();
  if (fits()) return text;
  for (const std::size_t bytes : kErrorBytes) {
    cut_error(report, bytes);
    if (fits()) return text;
  }
  report.phases.clear();
  if (report.failed_saves) report.failed_saves->message.clear();
  if (report.checkpoint) report.checkpoint->path.clear();
  if (fits()) return text;
  cut_identity(report);
  (void)fits();
  return text;
}

std::string metrics_text(const api::Report& report, const OwnCounters& counters) {
  std::string text;
  MetricsText out(text);
  out.head(metric::kPhaseSeconds, "counter", "Seconds since the start, by phase.");
  for (const api::ReportPhaseSeconds& phase : report.phases)
    out.labelled(metric::kPhaseSeconds, enum_name(phase.name), phase.seconds);
  if (report.step)
    out.one(metric::kStep, "gauge", "The last step.", static_cast<double>(*report.step));
  if (report.step_seconds)
    out.one(metric::kStepSeconds, "gauge", "How long a step takes.", *report.step_seconds);
  if (report.checkpoint)
    out.one(metric::kCheckpointStep, "gauge", "The step of the newest checkpoint.",
            static_cast<double>(report.checkpoint->step));
  if (report.memory_peak_bytes)
    out.one(metric::kMemoryPeakBytes, "gauge", "The most memory that the container has used.",
            static_cast<double>(*report.memory_peak_bytes));
  const auto count = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    out.one(name, "counter", help, static_cast<double>(value));
  };
  count(metric::kReportsSent, "Reports the operator took.", counters.reports_sent);
  count(metric::kReportsFailed, "Reports that were lost.", counters.reports_failed);
  count(metric::kLogBytes, "Bytes of log looked at.", counters.log_bytes);
  count(metric::kLogBytesUnread, "Bytes of log passed on, but not looked at.",
        counters.log_bytes_unread);
  count(metric::kHelperLines, "Lines of the Python package.", counters.helper_lines);
  count(metric::kHelperLinesBad, "Lines that were not understood.", counters.helper_lines_bad);
  return text;
}

}  // namespace amdahl::launch
