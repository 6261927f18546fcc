// The measured part of a TrainingJob's status: progress, checkpoints, GPU-seconds. Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/fields.hpp"
#include "operator/api/bounds.hpp"
#include "operator/api/report_enums.hpp"

namespace amdahl::api {

struct MetricStatus {
  std::string name = {};
  std::string value = {};
  bool operator==(const MetricStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, MetricStatus& metric) {
  v.required("name", metric.name,
             {.doc = "What the workload calls it.", .length_min = 1, .length_max = kLabelMax});
  v.required("value", metric.value,
             {.doc = "Its last value, as the workload wrote it; NaN is one.", .length_max = 32});
}

struct ProgressStatus {
  std::optional<std::int64_t> step = {};
  std::optional<std::int64_t> total_steps = {};
  std::optional<std::int32_t> percent = {};
  std::optional<std::int64_t> eta_seconds = {};
  std::optional<double> step_seconds = {};
  std::optional<StepSource> source = {};
  std::optional<WallTime> last_step_at = {};
  std::vector<MetricStatus> metrics = {};
  bool operator==(const ProgressStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, ProgressStatus& progress) {
  v.optional("step", progress.step,
             {.doc = "The last step that was reported.", .min = 0, .max = kIntegerMax});
  v.optional(
      "totalSteps", progress.total_steps,
      {.doc = "How many steps there will be, if the workload says.", .min = 0, .max = kIntegerMax});
  v.optional("percent", progress.percent,
             {.doc = "How much of the work is done.", .min = 0, .max = 100});
  v.optional("etaSeconds", progress.eta_seconds,
             {.doc = "Seconds of training that remain at the current speed.",
              .min = 0,
              .max = kIntegerMax});
  v.optional("stepSeconds", progress.step_seconds,
             {.doc = "How long a step takes now, in seconds.", .min = 0, .max = kIntegerMax});
  v.optional("source", progress.source,
             {.doc = "Where the step comes from: Script (job.step() or a callback), Framework (log "
                     "lines of a known framework), Log (lines that look like steps), Hook (steps "
                     "of optimizers or of DeepSpeed, see spec.hooks), or Unknown: "
                     "no step was understood, so percent, speed and goodput are not known either. "
                     "Call job.step() in the script."});
  v.optional("lastStepAt", progress.last_step_at,
             {.doc = "When the last step was reported. Long ago: the workload is silent, and "
                     "stepSeconds and etaSeconds are left out."});
  v.optional("metrics", progress.metrics,
             {.doc = "What the workload reports of itself.",
              .items_max = kMetricsMax,
              .list_map_key = "name"});
}

// Whether the last step is so long ago that speed and remaining time mean nothing any longer. Steps
// that are known to be slow get more time.
inline constexpr std::chrono::seconds kSilentAfter{60};
inline constexpr double kSilentSteps = 5;
inline bool is_silent(const ProgressStatus& progress, WallTime now) {
  if (!progress.last_step_at) return false;
  const std::chrono::duration<double> since = now - *progress.last_step_at;
  return since > kSilentAfter && since.count() > kSilentSteps * progress.step_seconds.value_or(0);
}

struct CommittedCheckpoint {
  std::int64_t step = 0;
  std::string uri = {};
  std::string manifest_digest = {};
  std::int64_t bytes = 0;
  std::optional<WallTime> committed_at = {};
  bool operator==(const CommittedCheckpoint&) const = default;
};
template <class V>
constexpr void fields(V& v, CommittedCheckpoint& checkpoint) {
  v.required("step", checkpoint.step, {.doc = "The step it holds.", .min = 0, .max = kIntegerMax});
  v.optional("uri", checkpoint.uri, {.doc = "Where it is.", .length_max = kUriMax});
  v.optional("manifestDigest", checkpoint.manifest_digest,
             {.doc = "The digest of its manifest, such as sha256:....", .length_max = 136});
  v.optional("bytes", checkpoint.bytes, {.doc = "How large it is.", .min = 0, .max = kIntegerMax});
  v.optional("committedAt", checkpoint.committed_at, {.doc = "When its manifest was written."});
}

struct FailedSave {
  std::string message = {};
  std::optional<WallTime> at = {};
  bool operator==(const FailedSave&) const = default;
};
template <class V>
constexpr void fields(V& v, FailedSave& failed) {
  v.optional("message", failed.message,
             {.doc = "Why it failed, in the words of the trainer or of the store.",
              .length_max = kMessageMax});
  v.optional("at", failed.at, {.doc = "When."});
}

struct CheckpointStatus {
  std::optional<CommittedCheckpoint> last_committed = {};
  std::optional<double> stall_seconds = {};
  std::optional<double> upload_lag_seconds = {};
  std::optional<double> predicted_pause_seconds = {};
  std::int32_t failed_saves = 0;
  std::optional<FailedSave> last_failed_save = {};
  std::int32_t orphans_collected = 0;
  std::optional<WallTime> verified_at = {};
  std::optional<std::int64_t> interval_seconds = {};
  bool operator==(const CheckpointStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, CheckpointStatus& checkpoint) {
  v.optional("lastCommitted", checkpoint.last_committed,
             {.doc = "The newest checkpoint that is complete."});
  v.optional("stallSeconds", checkpoint.stall_seconds,
             {.doc = "How long training stands still for a checkpoint, in seconds.",
              .min = 0,
              .max = kIntegerMax});
  v.optional("uploadLagSeconds", checkpoint.upload_lag_seconds,
             {.doc = "How long after that it is complete in the store, in seconds.",
              .min = 0,
              .max = kIntegerMax});
  v.optional("predictedPauseSeconds", checkpoint.predicted_pause_seconds,
             {.doc = "How long a pause would take now, in seconds.", .min = 0, .max = kIntegerMax});
  v.optional("failedSaves", checkpoint.failed_saves,
             {.doc = "How many checkpoints could not be written.", .min = 0, .max = kCountMax});
  v.optional("lastFailedSave", checkpoint.last_failed_save,
             {.doc = "The last checkpoint that could not be written."});
  v.optional("orphansCollected", checkpoint.orphans_collected,
             {.doc = "How many unfinished checkpoints were removed.", .min = 0, .max = kCountMax});
  v.optional("verifiedAt", checkpoint.verified_at,
             {.doc = "When the last committed checkpoint was last read back and found good."});
  v.optional("intervalSeconds", checkpoint.interval_seconds,
             {.doc = "How often the current attempt is told to save, in seconds: the spec's "
                     "interval, or what Auto comes to. Auto follows what is measured while the "
                     "attempt runs.",
              .min = 1,
              .max = kIntegerMax});
}

struct PhaseSeconds {
  std::string name = {};
  std::int64_t seconds = 0;
  bool operator==(const PhaseSeconds&) const = default;
};
template <class V>
constexpr void fields(V& v, PhaseSeconds& phase) {
  v.required("name", phase.name,
             {.doc = "What the GPUs were held for.", .length_min = 1, .length_max = kLabelMax});
  v.required("seconds", phase.seconds, {.doc = "GPU-seconds.", .min = 0, .max = kIntegerMax});
}

// The part of the account that no longer changes, so that the pods of ended attempts may be
// forgotten.
struct SettledGpuSeconds {
  std::int32_t attempt = 0;
  std::vector<PhaseSeconds> phases = {};
  bool operator==(const SettledGpuSeconds&) const = default;
};
template <class V>
constexpr void fields(V& v, SettledGpuSeconds& settled) {
  v.required(
      "attempt", settled.attempt,
      {.doc = "The last attempt that is in it, with all before.", .min = 1, .max = kCountMax});
  v.optional("phases", settled.phases,
             {.doc = "What those attempts held, split by what for.",
              .items_max = kPhaseSecondsMax,
              .list_map_key = "name"});
}

struct GpuSecondsStatus {
  std::int64_t held = 0;
  std::vector<PhaseSeconds> phases = {};
  std::optional<double> goodput = {};
  std::optional<SettledGpuSeconds> settled = {};
  bool operator==(const GpuSecondsStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, GpuSecondsStatus& account) {
  v.required("held", account.held,
             {.doc = "GPU-seconds from bind to release of every pod of every attempt.",
              .min = 0,
              .max = kIntegerMax});
  v.optional("phases", account.phases,
             {.doc = "The same, split by what they were held for; the parts add up to held.",
              .items_max = kPhaseSecondsMax,
              .list_map_key = "name"});
  v.optional("goodput", account.goodput,
             {.doc = "The share of held that made steps which were kept. A node that tells of no "
                     "steps counts as the rank that does. Absent while no step was understood.",
              .min = 0,
              .max = 1});
  v.optional("settled", account.settled,
             {.doc = "The part of ended attempts, which no longer changes."});
}

}  // namespace amdahl::api
