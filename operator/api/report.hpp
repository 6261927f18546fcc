// What a rank of a TrainingJob tells the operator, and what it is told in return.
//
// amdahl-launch writes a Report every few seconds, and once more into the termination message of
// its container; operator/report reads them. Plain values: thread any, failure none. A reader takes
// a Report as a claim of its pod, never as proof: lists, strings and numbers are bounded here, and
// whoever reads one calls validate() before it believes a word.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/fields.hpp"
#include "operator/api/report_enums.hpp"

namespace amdahl::api {

// Of the projected tokens that pods report with.
inline constexpr std::string_view kReportAudience = "amdahl.dev/report";
// Below the URL of the endpoint: ours, and the progress protocol of Kubeflow Trainer.
inline constexpr std::string_view kReportPath = "/v1/report";
inline constexpr std::string_view kProgressPath = "/v1/progress";
inline constexpr std::size_t kReportBytesMax = std::size_t{16} << 10U;
inline constexpr std::size_t kReportReplyBytesMax = std::size_t{4} << 10U;
inline constexpr std::size_t kTerminationMessageBytesMax = 4096;  // what a kubelet keeps
inline constexpr std::int64_t kReportIntegerMax = (std::int64_t{1} << 53) - 1;
inline constexpr std::int64_t kReportSecondsMax = 100LL * 365 * 24 * 3600;
inline constexpr std::int64_t kReportRankMax = 4096LL * 128 - 1;
inline constexpr std::int64_t kReportCountMax = 1'000'000'000;
inline constexpr std::uint32_t kReportNameMax = 253;
inline constexpr std::uint32_t kReportMetricsMax = 8;
inline constexpr std::uint32_t kReportMetricNameMax = 63;
inline constexpr std::uint32_t kReportMetricValueMax = 32;
inline constexpr std::uint32_t kReportPhasesMax = 16;
inline constexpr std::uint32_t kReportPathMax = 1024;
inline constexpr std::uint32_t kReportDigestMax = 136;
inline constexpr std::uint32_t kReportErrorTypeMax = 128;
inline constexpr std::uint32_t kReportErrorWhereMax = 256;
inline constexpr std::uint32_t kReportErrorMessageMax = 2048;
inline constexpr std::uint32_t kReportSaveErrorMax = 512;
inline constexpr std::uint32_t kReportEndedRanksMax = 128;  // the processes of a node
inline constexpr std::int64_t kReportEverySecondsDefault = 5;
inline constexpr std::int64_t kReportEverySecondsMax = 300;
inline constexpr std::int64_t kReportIntervalSecondsMax = 30LL * 24 * 3600;  // what a spec may say

struct ReportPhaseSeconds {
  ReportPhase name = ReportPhase::kUnattributed;
  double seconds = 0;
  bool operator==(const ReportPhaseSeconds&) const = default;
};
template <class V>
constexpr void fields(V& v, ReportPhaseSeconds& phase) {
  v.required("name", phase.name, {.doc = "What the rank was doing."});
  v.required("seconds", phase.seconds,
             {.doc = "For how long since it started.", .min = 0, .max = kReportSecondsMax});
}

// The value is text: NaN and Inf are values a diverged loss really has, and JSON has no such
// number.
struct ReportMetric {
  std::string name = {};
  std::string value = {};
  bool operator==(const ReportMetric&) const = default;
};
template <class V>
constexpr void fields(V& v, ReportMetric& metric) {
  v.required(
      "name", metric.name,
      {.doc = "What the trainer calls it.", .length_min = 1, .length_max = kReportMetricNameMax});
  v.required(
      "value", metric.value,
      {.doc = "Its last value, as the trainer wrote it.", .length_max = kReportMetricValueMax});
}

struct ReportCheckpoint {
  std::int64_t step = 0;
  std::string path = {};
  std::int64_t bytes = 0;
  std::optional<WallTime> committed_at = {};
  // What only our own engine knows.
  std::string manifest_digest = {};
  std::optional<double> stall_seconds = {};
  std::optional<double> upload_lag_seconds = {};
  std::optional<double> predicted_pause_seconds = {};
  std::int64_t failed_saves = 0;
  std::int64_t orphans_collected = 0;
  bool operator==(const ReportCheckpoint&) const = default;
};
template <class V>
constexpr void fields(V& v, ReportCheckpoint& checkpoint) {
  v.required("step", checkpoint.step,
             {.doc = "The step it holds.", .min = 0, .max = kReportIntegerMax});
  v.optional("path", checkpoint.path, {.doc = "Where it is.", .length_max = kReportPathMax});
  v.optional("bytes", checkpoint.bytes,
             {.doc = "How large it is, if that is known.", .min = 0, .max = kReportIntegerMax});
  v.optional("committedAt", checkpoint.committed_at, {.doc = "When the rank learned of it."});
  v.optional(
      "manifestDigest", checkpoint.manifest_digest,
      {.doc = "The digest of its manifest, such as sha256:....", .length_max = kReportDigestMax});
  const auto seconds = [&](const char* name, std::optional<double>& value, const char* doc) {
    v.optional(name, value, {.doc = doc, .min = 0, .max = kReportSecondsMax});
  };
  seconds("stallSeconds", checkpoint.stall_seconds, "How long training stood still for it.");
  seconds("uploadLagSeconds", checkpoint.upload_lag_seconds,
          "How long after that it was complete in the store.");
  seconds("predictedPauseSeconds", checkpoint.predicted_pause_seconds,
          "How long a pause would take now.");
  v.optional("failedSaves", checkpoint.failed_saves,
             {.doc = "Checkpoints that could not be written.", .min = 0, .max = kReportCountMax});
  v.optional("orphansCollected", checkpoint.orphans_collected,
             {.doc = "Objects that were removed, because nothing needs them any more.",
              .min = 0,
              .max = kReportCountMax});
}

// Saves that could not be written. Apart from ReportCheckpoint, which a job whose saves all fail
// never has.
struct ReportFailedSaves {
  std::int64_t count = 0;
  std::string message = {};
  std::optional<WallTime> at = {};
  bool operator==(const ReportFailedSaves&) const = default;
};
template <class V>
constexpr void fields(V& v, ReportFailedSaves& failed) {
  v.required("count", failed.count,
             {.doc = "How many, since the rank started.", .min = 0, .max = kReportCountMax});
  v.optional("message", failed.message,
             {.doc = "Why the last of them failed.", .length_max = kReportSaveErrorMax});
  v.optional("at", failed.at, {.doc = "When the rank learned of the last of them."});
}

struct ReportPause {
  ReportPauseState state = ReportPauseState::kNone;
  ReportPauseWay way = ReportPauseWay::kNone;
  std::optional<std::int64_t> step = {};
  bool operator==(const ReportPause&) const = default;
};
template <class V>
constexpr void fields(V& v, ReportPause& pause) {
  v.optional("state", pause.state, {.doc = "How far the pause has come."});
  v.optional("way", pause.way, {.doc = "How the trainer was asked."});
  v.optional("step", pause.step,
             {.doc = "The step that was saved for it.", .min = 0, .max = kReportIntegerMax});
}

struct ReportError {
  ReportErrorKind kind = ReportErrorKind::kUnknown;
  ReportErrorSource source = ReportErrorSource::kUnknown;
  std::string type = {};
  std::string message = {};
  std::string where = {};
  std::optional<std::int64_t> rank = {};
  std::optional<WallTime> at = {};
  bool operator==(const ReportError&) const = default;
};
template <class V>
constexpr void fields(V& v, ReportError& error) {
  v.required("kind", error.kind, {.doc = "What kind of failure it looks like."});
  v.optional("source", error.source, {.doc = "Who says so: anybody can print a line."});
  v.optional("type", error.type,
             {.doc = "The type of the exception.", .length_max = kReportErrorTypeMax});
  v.optional("message", error.message,
             {.doc = "Its own words, cut.", .length_max = kReportErrorMessageMax});
  v.optional("where", error.where,
             {.doc = "The innermost frame.", .length_max = kReportErrorWhereMax});
  v.optional("rank", error.rank,
             {.doc = "The global rank that had it.", .min = 0, .max = kReportRankMax});
  v.optional("at", error.at, {.doc = "When it was first seen."});
}

struct ReportExit {
  std::int32_t code = 0;
  std::int32_t signal = 0;
  bool operator==(const ReportExit&) const = default;
};
template <class V>
constexpr void fields(V& v, ReportExit& end) {
  v.required("code", end.code, {.doc = "What the container exits with.", .min = 0, .max = 255});
  v.optional("signal", end.signal,
             {.doc = "The signal that ended the trainer.", .min = 0, .max = 64});
}

struct Report {
  std::string job = {};  // "namespace/name"
  std::string job_uid = {};
  std::string pod = {};
  std::string pod_uid = {};
  std::int32_t attempt = 0;
  std::int32_t rank = 0;  // of the node
  std::int64_t sequence = 0;
  std::optional<WallTime> sent_at = {};
  ReportPhase phase = ReportPhase::kUnattributed;
  std::vector<ReportPhaseSeconds> phases = {};
  std::optional<std::int64_t> step = {};
  std::optional<std::int64_t> total_steps = {};
  std::optional<double> step_seconds = {};
  std::optional<double> step_age_seconds = {};
  StepSource step_source = StepSource::kUnknown;
  std::optional<double> quiet_seconds = {};
  std::optional<std::int64_t> memory_peak_bytes = {};
  std::vector<std::int64_t> ended_ranks = {};  // global
  std::optional<double> ended_age_seconds = {};
  std::vector<ReportMetric> metrics = {};
  std::optional<ReportCheckpoint> checkpoint = {};
  std::optional<ReportFailedSaves> failed_saves = {};
  ReportPause pause = {};
  std::optional<ReportError> error = {};
  std::optional<ReportExit> exit = {};
  bool operator==(const Report&) const = default;
};
template <class V>
constexpr void report_identity(V& v, Report& report) {
  v.required("job", report.job, {.doc = "Namespace and name.", .length_max = 2 * kReportNameMax});
  v.optional("jobUid", report.job_uid, {.doc = "Its UID.", .length_max = kReportNameMax});
  v.optional("pod", report.pod, {.doc = "The pod that reports.", .length_max = kReportNameMax});
  v.optional("podUid", report.pod_uid, {.doc = "Its UID.", .length_max = kReportNameMax});
  v.required("attempt", report.attempt,
             {.doc = "Of the job, from 1.", .min = 0, .max = kReportCountMax});
  v.required("rank", report.rank, {.doc = "Of the node.", .min = 0, .max = kReportRankMax});
  v.required("sequence", report.sequence,
             {.doc = "Grows with every report of a pod.", .min = 0, .max = kReportIntegerMax});
  v.optional("sentAt", report.sent_at, {.doc = "By the pod's clock.", .micro_time = true});
}
template <class V>
constexpr void fields(V& v, Report& report) {
  report_identity(v, report);
  v.required("phase", report.phase, {.doc = "What the rank does now."});
  v.optional("phases", report.phases,
             {.doc = "Seconds by phase since the rank started; they add up to its age.",
              .items_max = kReportPhasesMax,
              .list_map_key = "name"});
  v.optional("step", report.step, {.doc = "The last step.", .min = 0, .max = kReportIntegerMax});
  v.optional("totalSteps", report.total_steps,
             {.doc = "How many there will be.", .min = 0, .max = kReportIntegerMax});
  v.optional("stepSeconds", report.step_seconds,
             {.doc = "How long a step takes now.", .min = 0, .max = kReportSecondsMax});
  v.optional("stepAgeSeconds", report.step_age_seconds,
             {.doc = "How long ago the rank made its last step, by its own clock.",
              .min = 0,
              .max = kReportSecondsMax});
  v.optional("stepSource", report.step_source,
             {.doc = "Where the step comes from; absent: no step was understood."});
  v.optional(
      "quietSeconds", report.quiet_seconds,
      {.doc = "For how long the trainer has printed nothing.", .min = 0, .max = kReportSecondsMax});
  v.optional(
      "memoryPeakBytes", report.memory_peak_bytes,
      {.doc = "The most memory that the container has used.", .min = 0, .max = kReportIntegerMax});
  v.optional("endedRanks", report.ended_ranks,
             {.doc = "Global ranks of this node whose processes have ended while the trainer's "
                     "command still runs, as torchrun does until all nodes are done.",
              .min = 0,
              .max = kReportRankMax,
              .items_max = kReportEndedRanksMax});
  v.optional("endedAgeSeconds", report.ended_age_seconds,
             {.doc = "How long ago the first of them was seen to have ended.",
              .min = 0,
              .max = kReportSecondsMax});
  v.optional("metrics", report.metrics,
             {.doc = "What the trainer says of itself.",
              .items_max = kReportMetricsMax,
              .list_map_key = "name"});
  v.optional("checkpoint", report.checkpoint, {.doc = "The newest committed checkpoint."});
  v.optional("failedSaves", report.failed_saves, {.doc = "Saves that could not be written."});
  v.optional("pause", report.pause, {.doc = "The pause that was asked for, if any."});
  v.optional("error", report.error, {.doc = "The first failure that was seen."});
  v.optional("exit", report.exit, {.doc = "How the trainer ended; only in the last report."});
}

struct ReportReply {
  ReportRequest request = ReportRequest::kNone;
  std::optional<std::int64_t> deadline_seconds = {};
  std::optional<std::int64_t> report_every_seconds = {};
  std::optional<std::int64_t> checkpoint_interval_seconds = {};
  bool operator==(const ReportReply&) const = default;
};
template <class V>
constexpr void fields(V& v, ReportReply& reply) {
  v.optional("request", reply.request, {.doc = "What the rank shall do."});
  v.optional("deadlineSeconds", reply.deadline_seconds,
             {.doc = "How long it has for that, from now.", .min = 0, .max = kReportSecondsMax});
  v.optional("reportEverySeconds", reply.report_every_seconds,
             {.doc = "When the next report is wanted.", .min = 1, .max = kReportEverySecondsMax});
  v.optional("checkpointIntervalSeconds", reply.checkpoint_interval_seconds,
             {.doc = "How often the trainer shall save from now on; absent: as it was told before.",
              .min = 1,
              .max = kReportIntervalSecondsMax});
}

}  // namespace amdahl::api
