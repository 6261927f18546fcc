#include "operator/training/attempts.hpp"

#include <algorithm>

#include "operator/api/condition.hpp"
#include "operator/controller/conditions.hpp"
#include "operator/training/account.hpp"
#include "operator/training/checkpoint_check.hpp"
#include "operator/training/checkpoint_interval.hpp"
#include "operator/training/reported_saves.hpp"
#include "operator/training/step_time.hpp"

namespace amdahl::training {
namespace {

using api::AttemptOutcome;

// A later attempt stands where the one before it ended, until it tells of a step.
bool keeps_step(const api::ProgressStatus& progress, const api::Report& report) {
  return progress.step && !report.step;
}

void take_progress(api::ProgressStatus& progress, const api::Report& report) {
  if (keeps_step(progress, report)) {
    progress.step_seconds.reset();
    progress.eta_seconds.reset();
    return;
  }
  progress.step = report.step;
  progress.total_steps = report.total_steps;
  progress.step_seconds = report.step_seconds;
  const bool by_script = report.step && report.step_source == api::StepSource::kUnknown;
  progress.source = by_script ? api::StepSource::kScript : report.step_source;
  progress.percent.reset();
  progress.eta_seconds.reset();
  if (report.step && report.total_steps && *report.total_steps > 0) {
    const std::int64_t done = std::min(*report.step, *report.total_steps);
    const auto share = static_cast<double>(done) / static_cast<double>(*report.total_steps);
    progress.percent = static_cast<std::int32_t>(share * 100);
    if (report.step_seconds)
      progress.eta_seconds = static_cast<std::int64_t>(
          std::clamp(static_cast<double>(*report.total_steps - done) * *report.step_seconds, 0.0,
                     static_cast<double>(api::kIntegerMax)));
  }
  progress.metrics.clear();
  for (const api::ReportMetric& metric : report.metrics)
    progress.metrics.push_back({.name = metric.name, .value = metric.value});
}

// A script that begins to tell of its steps may count something else than its optimizers, which a
// hook counted until then. It has made those from where it began, unless that is not known.
std::int64_t first_told_step(const api::AttemptStatus& record, std::int64_t step,
                             const api::CheckpointSpec& spec) {
  if (!record.resumed_from_step && !spec.init_from.empty()) return step;
  return std::min(step, record.resumed_from_step.value_or(0) + 1);
}

void note_nodes(api::AttemptStatus& record, const Situation& s) {
  record.nodes.clear();
  if (record.cause && !record.cause->node.empty()) record.nodes.push_back(record.cause->node);
  for (const PodSeen* pod : s.view.ranks) {
    if (record.nodes.size() >= api::kAttemptNodesMax) return;
    if (pod == nullptr || pod->node.empty()) continue;
    if (std::ranges::find(record.nodes, pod->node) == record.nodes.end())
      record.nodes.push_back(pod->node);
  }
}

// A job that was given another place for its checkpoints begins there.
void forget_other_places(TrainingJobStatus& next, const Situation& s) {
  if (s.spec.checkpoint.uri.empty() || !next.checkpoint || !next.checkpoint->last_committed) return;
  const api::CommittedCheckpoint& known = *next.checkpoint->last_committed;
  const bool ours = !known.manifest_digest.empty() && !known.uri.empty();
  if (!ours || lies_below(known.uri, s.spec.checkpoint.uri)) return;
  recount_lost(next, next.attempts.size(), known.step, 0);
  next.checkpoint->last_committed.reset();
  next.checkpoint->verified_at.reset();
}

}  // namespace

void note_start(api::AttemptStatus& record, const Situation& s) {
  if (record.started_at) return;
  for (const PodSeen* pod : s.view.ranks)
    if (pod != nullptr && pod->created &&
        (!record.started_at || *pod->created < *record.started_at))
      record.started_at = stamp(*pod->created);
}

const api::Report* counting_report(const Situation& s) {
  const api::Report* silent = nullptr;
  for (std::uint32_t rank = 0; rank < s.view.ranks.size(); ++rank) {
    const api::Report* const report = report_of(s.seen, s.view, rank);
    if (report != nullptr && report->step) return report;
    if (silent == nullptr) silent = report;
  }
  return silent;
}

void take_reports(TrainingJobStatus& next, const Situation& s) {
  if (next.attempts.empty() || next.attempts.back().number != s.view.number) return;
  api::AttemptStatus& record = next.attempts.back();
  if (const api::Report* const report = counting_report(s)) {
    if (!next.progress) next.progress.emplace();
    note_step_time(next, *report, s);
    const bool by_hook = next.progress->source == api::StepSource::kHook;
    take_progress(*next.progress, *report);
    if (report->step) {
      if (by_hook && report->step_source != api::StepSource::kHook) {
        record.first_step = first_told_step(record, *report->step, s.spec.checkpoint);
        record.last_step = report->step;
      }
      if (!record.first_step) record.first_step = report->step;
      record.last_step = std::max(record.last_step.value_or(0), *report->step);
    }
  }
  take_saves(next, s);
  // What a rank does now it may not do when somebody looks next.
  if (!record.worked_at && (record.first_step || has_worked(s.seen, s.view, s.status.checkpoint)))
    record.worked_at = stamp(s.now);
}

const api::AttemptStatus* attempt_before(const TrainingJobStatus& status) {
  const std::size_t count = status.attempts.size();
  return count < 2 ? nullptr : &status.attempts[count - 2];
}

void end_attempt(TrainingJobStatus& next, const Situation& s, AttemptOutcome outcome,
                 std::optional<api::Cause> cause) {
  take_reports(next, s);
  const Used used = used_time(s);
  const bool admitted = api::is_true(s.status.conditions, api::condition::kAdmitted);
  const bool carried = outcome == AttemptOutcome::kPaused;
  next.elapsed.active_seconds = used.active_seconds;
  next.elapsed.queue_seconds = carried && !admitted ? used.queue_seconds : 0;
  next.elapsed.start_seconds = carried && is_starting(s) ? used.start_seconds : 0;
  if (next.attempts.empty()) return;
  api::AttemptStatus& record = next.attempts.back();
  record.outcome = outcome;
  record.ended_at = stamp(s.now);
  record.cause = std::move(cause);
  note_start(record, s);
  if (outcome != AttemptOutcome::kSucceeded) record.lost_steps = steps_at_risk(next, s.spec);
  note_nodes(record, s);
}

void begin_attempt(TrainingJobStatus& next, const Situation& s) {
  const bool restart =
      !next.attempts.empty() && (next.attempts.back().outcome == AttemptOutcome::kFailed ||
                                 next.attempts.back().outcome == AttemptOutcome::kDisrupted);
  ++next.attempt;
  api::AttemptStatus record{.number = next.attempt};
  forget_other_places(next, s);
  if (!s.spec.checkpoint.uri.empty() && next.checkpoint && next.checkpoint->last_committed)
    record.resumed_from_step = next.checkpoint->last_committed->step;
  next.attempts.push_back(std::move(record));
  if (next.attempts.size() > api::kAttemptsMax) next.attempts.erase(next.attempts.begin());
  next.workers = api::WorkersStatus{.desired = s.spec.nodes};
  next.restarts = next.restarts.value_or(0) + (restart ? 1 : 0);
  if (s.spec.checkpoint.uri.empty()) return;
  if (!next.checkpoint) next.checkpoint.emplace();
  next.checkpoint->interval_seconds = interval_seconds(s.spec, next);
}

void finish_job(TrainingJobStatus& next, const Situation& s, std::string_view condition,
                std::string_view reason, std::string message) {
  controller::set_condition(next.conditions,
                            {.type = std::string(condition),
                             .status = api::ConditionStatus::kTrue,
                             .observed_generation = s.job().metadata.generation,
                             .reason = std::string(reason),
                             .message = std::move(message)},
                            stamp(s.now));
  next.pending.reset();
  // Nobody will decide about it any more.
  if (is_pausing(next) || pause_refused(next)) next.pause.reset();
}

std::int64_t best_step_before(const TrainingJobStatus& status) {
  std::int64_t best = -1;
  for (std::size_t i = 0; i + 1 < status.attempts.size(); ++i)
    best = std::max(best, status.attempts[i].last_step.value_or(-1));
  return best;
}

std::int32_t fruitless_attempts(const TrainingJobStatus& status) {
  std::int32_t count = 0;
  std::int64_t best = -1;
  for (const api::AttemptStatus& attempt : status.attempts) {
    const bool bad =
        attempt.outcome == AttemptOutcome::kFailed || attempt.outcome == AttemptOutcome::kDisrupted;
    if (attempt.outcome == AttemptOutcome::kUnknown) continue;
    const std::int64_t last = attempt.last_step.value_or(-1);
    count = !bad ? 0 : last > best ? 1 : count + 1;
    best = std::max(best, last);
  }
  return count;
}

std::optional<std::int64_t> steps_at_risk(const TrainingJobStatus& status,
                                          const api::TrainingJobSpec& spec) {
  if (status.attempts.empty() || !status.attempts.back().last_step) return std::nullopt;
  const api::AttemptStatus& record = status.attempts.back();
  std::int64_t safe = record.resumed_from_step.value_or(0);
  // It began at a step of another job's checkpoint, which stays.
  if (!record.resumed_from_step && !spec.checkpoint.init_from.empty())
    safe = std::max<std::int64_t>(0, record.first_step.value_or(1) - 1);
  if (status.checkpoint && status.checkpoint->last_committed)
    safe = std::max(safe, status.checkpoint->last_committed->step);
  return std::max<std::int64_t>(0, *record.last_step - safe);
}

}  // namespace amdahl::training
