// What the operator reports of a TrainingJob, and what it must remember over a restart of its own.
//
// Plain values, any thread. A writer passes the status through fit_status() first, which keeps it
// within the bounds of this table and under kStatusBytesMax.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/fields.hpp"
#include "operator/api/bounds.hpp"
#include "operator/api/condition.hpp"
#include "operator/api/training_job_cause.hpp"
#include "operator/api/training_job_enums.hpp"
#include "operator/api/training_job_progress.hpp"

namespace amdahl::api {

struct WorkersStatus {
  std::int32_t desired = 0;
  std::int32_t created = 0;
  std::int32_t bound = 0;
  std::int32_t running = 0;
  std::int32_t ready = 0;
  bool operator==(const WorkersStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, WorkersStatus& workers) {
  v.required("desired", workers.desired,
             {.doc = "How many pods the current attempt has.", .min = 0, .max = kNodesMax});
  v.required("created", workers.created,
             {.doc = "How many of them exist.", .min = 0, .max = kNodesMax});
  v.required("bound", workers.bound, {.doc = "How many have a node.", .min = 0, .max = kNodesMax});
  v.required("running", workers.running,
             {.doc = "How many have started.", .min = 0, .max = kNodesMax});
  v.required("ready", workers.ready,
             {.doc = "How many are running and ready.", .min = 0, .max = kNodesMax});
}

struct PendingStatus {
  std::string reason = {};
  std::string message = {};
  bool operator==(const PendingStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, PendingStatus& pending) {
  v.optional("reason", pending.reason,
             {.doc = "What the gang waits for, or what looks wrong while it runs, in one CamelCase "
                     "word.",
              .length_max = kReasonMax});
  v.optional("message", pending.message,
             {.doc = "The same with its arithmetic: what is asked for, what is free, who is ahead.",
              .length_max = kMessageMax});
}

struct BudgetsStatus {
  std::int32_t failures = 0;
  std::int32_t disruptions = 0;
  std::int32_t pauses = 0;
  bool operator==(const BudgetsStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, BudgetsStatus& budgets) {
  v.required("failures", budgets.failures,
             {.doc = "How much of restart.maxFailures is spent. Progress may give it back.",
              .min = 0,
              .max = kCountMax});
  v.required("disruptions", budgets.disruptions,
             {.doc = "How much of restart.maxDisruptions is spent.", .min = 0, .max = kCountMax});
  v.required(
      "pauses", budgets.pauses,
      {.doc = "How often the job was paused. Nothing limits it.", .min = 0, .max = kCountMax});
}

struct AttemptStatus {
  std::int32_t number = 0;
  std::optional<WallTime> started_at = {};
  std::optional<WallTime> ended_at = {};
  AttemptOutcome outcome = AttemptOutcome::kUnknown;
  std::optional<Cause> cause = {};
  std::optional<WallTime> worked_at = {};
  std::optional<std::int64_t> first_step = {};
  std::optional<std::int64_t> last_step = {};
  std::optional<std::int64_t> lost_steps = {};
  std::optional<std::int64_t> resumed_from_step = {};
  std::int64_t held_gpu_seconds = 0;
  std::int64_t trained_gpu_seconds = 0;
  std::vector<std::string> nodes = {};
  bool operator==(const AttemptStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, AttemptStatus& attempt) {
  v.required("number", attempt.number,
             {.doc = "Which attempt, counted from 1.", .min = 1, .max = kCountMax});
  v.optional("startedAt", attempt.started_at, {.doc = "When its first pod was created."});
  v.optional("endedAt", attempt.ended_at, {.doc = "When it was decided that it had ended."});
  v.optional("outcome", attempt.outcome, {.doc = "How it ended; absent while it goes on."});
  v.optional("cause", attempt.cause, {.doc = "Why it ended."});
  v.optional("workedAt", attempt.worked_at,
             {.doc = "When its first step, evaluation or checkpoint was heard of, which ends "
                     "deadlines.start for it."});
  v.optional("firstStep", attempt.first_step,
             {.doc = "The first step it reported.", .min = 0, .max = kIntegerMax});
  v.optional("lastStep", attempt.last_step,
             {.doc = "The last step it reported.", .min = 0, .max = kIntegerMax});
  v.optional("lostSteps", attempt.lost_steps,
             {.doc = "How many of its steps have to be done again.", .min = 0, .max = kIntegerMax});
  v.optional("resumedFromStep", attempt.resumed_from_step,
             {.doc = "The step of the checkpoint it began with; absent when it began anew.",
              .min = 0,
              .max = kIntegerMax});
  v.optional("heldGpuSeconds", attempt.held_gpu_seconds,
             {.doc = "GPU-seconds it held, from bind to release.", .min = 0, .max = kIntegerMax});
  v.optional("trainedGpuSeconds", attempt.trained_gpu_seconds,
             {.doc = "GPU-seconds that its steps took, with those that have to be done again.",
              .min = 0,
              .max = kIntegerMax});
  v.optional("nodes", attempt.nodes,
             {.doc = "Some of the nodes it ran on, those of the cause first.",
              .length_max = kSubdomainMax,
              .items_max = kAttemptNodesMax});
}

struct PauseStatus {
  std::optional<WallTime> requested_at = {};
  std::int64_t generation = 0;
  PauseOutcome outcome = PauseOutcome::kUnknown;
  std::optional<WallTime> recorded_at = {};
  std::optional<std::int64_t> step = {};
  std::optional<std::int64_t> lost_steps = {};
  std::string message = {};
  bool operator==(const PauseStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, PauseStatus& pause) {
  v.optional("requestedAt", pause.requested_at,
             {.doc = "When the operator first saw the wish; its deadline counts from here."});
  v.optional(
      "generation", pause.generation,
      {.doc = "The generation of the spec that asked for it.", .min = 0, .max = kIntegerMax});
  v.optional("outcome", pause.outcome, {.doc = "What became of it; absent while that is open."});
  v.optional("recordedAt", pause.recorded_at, {.doc = "When the outcome was known."});
  v.optional("step", pause.step,
             {.doc = "The step from which the job will go on.", .min = 0, .max = kIntegerMax});
  v.optional("lostSteps", pause.lost_steps,
             {.doc = "How many steps have to be done again.", .min = 0, .max = kIntegerMax});
  v.optional("message", pause.message, {.doc = "The same for people.", .length_max = kMessageMax});
}

struct CancelStatus {
  std::string requested_by = {};
  std::optional<WallTime> requested_at = {};
  std::optional<std::int64_t> last_step = {};
  bool operator==(const CancelStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, CancelStatus& cancel) {
  v.optional(
      "requestedBy", cancel.requested_by,
      {.doc = "Who set spec.cancel, as far as the API server knows.", .length_max = kSubdomainMax});
  v.optional("requestedAt", cancel.requested_at, {.doc = "When."});
  v.optional("lastStep", cancel.last_step,
             {.doc = "The last step that was reported before.", .min = 0, .max = kIntegerMax});
}

// The used part of each deadline. What runs now is not in it: that began when its condition last
// changed, or when the attempt started.
struct ElapsedStatus {
  std::int64_t queue_seconds = 0;
  std::int64_t start_seconds = 0;
  std::int64_t active_seconds = 0;
  bool operator==(const ElapsedStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, ElapsedStatus& elapsed) {
  v.optional(
      "queueSeconds", elapsed.queue_seconds,
      {.doc = "Seconds that earlier attempts waited for nodes.", .min = 0, .max = kIntegerMax});
  v.optional("startSeconds", elapsed.start_seconds,
             {.doc = "Seconds that earlier attempts took from bound pods to the first step.",
              .min = 0,
              .max = kIntegerMax});
  v.optional("activeSeconds", elapsed.active_seconds,
             {.doc = "Seconds that earlier attempts trained.", .min = 0, .max = kIntegerMax});
}

struct TrainingJobStatus {
  Phase phase = Phase::kUnknown;
  std::string reason = {};
  std::vector<Condition> conditions = {};
  std::int64_t observed_generation = 0;
  std::int32_t attempt = 0;
  std::optional<std::int32_t> restarts = {};
  std::optional<WorkersStatus> workers = {};
  std::optional<PendingStatus> pending = {};
  std::optional<ProgressStatus> progress = {};
  std::optional<CheckpointStatus> checkpoint = {};
  std::optional<BudgetsStatus> budgets = {};
  ElapsedStatus elapsed = {};
  std::optional<PauseStatus> pause = {};
  std::optional<CancelStatus> cancel = {};
  std::vector<AttemptStatus> attempts = {};  // oldest first
  std::optional<GpuSecondsStatus> gpu_seconds = {};
  std::int64_t epoch = 0;
  bool operator==(const TrainingJobStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, TrainingJobStatus& status) {
  v.optional("phase", status.phase,
             {.doc = "The state in one word, for columns. It is derived from the conditions; "
                     "programs read those."});
  v.optional(
      "reason", status.reason,
      {.doc = "Why the job is in this phase, in one word, for columns.", .length_max = kReasonMax});
  v.optional("conditions", status.conditions,
             {.doc = "What is true of the job, each with its reason.",
              .items_max = kConditionsMax,
              .list_map_key = "type"});
  v.optional("observedGeneration", status.observed_generation,
             {.doc = "The generation of the spec that this status is about.",
              .min = 0,
              .max = kIntegerMax});
  v.optional("attempt", status.attempt,
             {.doc = "The number of the current attempt. Every start of the gang is a new one.",
              .min = 0,
              .max = kCountMax});
  v.optional("restarts", status.restarts,
             {.doc = "How often the gang was started again after a failure or a disruption.",
              .min = 0,
              .max = kCountMax});
  v.optional("workers", status.workers, {.doc = "The pods of the current attempt, counted."});
  v.optional("pending", status.pending, {.doc = "What the gang waits for."});
  v.optional("progress", status.progress, {.doc = "How far the training is."});
  v.optional("checkpoint", status.checkpoint, {.doc = "What of it is safe."});
  v.optional("budgets", status.budgets, {.doc = "What has been spent of the restarts allowed."});
  v.optional("elapsed", status.elapsed,
             {.doc = "What earlier attempts have used of the deadlines."});
  v.optional("pause", status.pause, {.doc = "The last pause, as it was asked for and ended."});
  v.optional("cancel", status.cancel, {.doc = "The cancellation, if there was one."});
  v.optional("attempts", status.attempts,
             {.doc = "The newest attempts, oldest first.",
              .items_max = kAttemptsMax,
              .list_map_key = "number"});
  v.optional("gpuSeconds", status.gpu_seconds, {.doc = "The account of all GPU-seconds held."});
  v.optional("epoch", status.epoch,
             {.doc = "The term of the leader that last wrote here.", .min = 0, .max = kIntegerMax});
}

}  // namespace amdahl::api
