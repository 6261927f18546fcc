#include "operator/training/attempts.hpp"

#include <algorithm>
#include <cmath>

#include "operator/api/condition.hpp"
#include "operator/controller/conditions.hpp"
#include "operator/training/account.hpp"
#include "operator/training/checkpoint_check.hpp"
#include "operator/training/checkpoint_interval.hpp"

namespace amdahl::training {
namespace {

using api::AttemptOutcome;

constexpr std::int32_t kBackoffDoublingsMax = 20;

const api::Report* leading_report(const Situation& s) {
  if (const api::Report* first = report_of(s.seen, s.view, 0)) return first;
  const api::Report* best = nullptr;
  for (const RankReport& one : s.seen.reports)
    if (best == nullptr || one.report.step.value_or(-1) > best->step.value_or(-1))
      best = &one.report;
  return best;
}

// A checkpoint that every rank but the first knows of.
std::optional<api::ReportCheckpoint> known_to_the_others(const Situation& s) {
  std::optional<api::ReportCheckpoint> agreed;
  for (std::uint32_t rank = 1; rank < s.view.ranks.size(); ++rank) {
    const api::Report* const report = report_of(s.seen, s.view, rank);
    if (report == nullptr || !report->checkpoint) return std::nullopt;
    if (!agreed || report->checkpoint->step < agreed->step) agreed = report->checkpoint;
  }
  return agreed;
}

// Rank 0 speaks for the gang, and so do all the others together: its report may be the older one.
std::optional<api::ReportCheckpoint> agreed_checkpoint(const Situation& s) {
  const api::Report* const first = report_of(s.seen, s.view, 0);
  auto others = known_to_the_others(s);
  if (first == nullptr || !first->checkpoint) return others;
  return others && others->step > first->checkpoint->step ? others : first->checkpoint;
}

void take_progress(api::ProgressStatus& progress, const api::Report& report) {
  progress.step = report.step;
  progress.total_steps = report.total_steps;
  progress.step_seconds = report.step_seconds;
  progress.percent.reset();
  progress.eta_seconds.reset();
  if (report.step && report.total_steps && *report.total_steps > 0) {
    const std::int64_t done = std::min(*report.step, *report.total_steps);
    const auto share = static_cast<double>(done) / static_cast<double>(*report.total_steps);
    progress.percent = static_cast<std::int32_t>(share * 100);
    if (report.step_seconds)
      progress.eta_seconds = static_cast<std::int64_t>(
          static_cast<double>(*report.total_steps - done) * *report.step_seconds);
  }
  progress.metrics.clear();
  for (const api::ReportMetric& metric : report.metrics)
    progress.metrics.push_back({.name = metric.name, .value = metric.value});
}

// How its engine fares; a trainer that saves by its own means says nothing of it.
void take_engine(api::CheckpointStatus& next, const api::ReportCheckpoint& found) {
  const auto take = [](std::optional<double>& into, const std::optional<double>& seconds) {
    if (seconds) into = std::round(*seconds * 1000) / 1000;
  };
  take(next.stall_seconds, found.stall_seconds);
  take(next.upload_lag_seconds, found.upload_lag_seconds);
  take(next.predicted_pause_seconds, found.predicted_pause_seconds);
  const auto count = [](std::int32_t& into, std::int64_t seen) {
    into = std::max(into, static_cast<std::int32_t>(seen));
  };
  count(next.failed_saves, found.failed_saves);
  count(next.orphans_collected, found.orphans_collected);
}

// A last report has no room for the place; our own engine writes where the spec says.
std::string place_of(const api::ReportCheckpoint& found, const Situation& s) {
  const bool known = !found.path.empty() || found.manifest_digest.empty();
  return known ? as_address(found.path) : s.spec.checkpoint.uri;
}

// Whether it was news.
bool take_checkpoint(TrainingJobStatus& next, const api::ReportCheckpoint& found,
                     const Situation& s) {
  if (!next.checkpoint) next.checkpoint.emplace();
  take_engine(*next.checkpoint, found);
  auto& known = next.checkpoint->last_committed;
  if (known && known->step >= found.step) return false;
  known = api::CommittedCheckpoint{.step = found.step,
                                   .uri = place_of(found, s),
                                   .manifest_digest = found.manifest_digest,
                                   .bytes = found.bytes,
                                   .committed_at = {}};
  // A script that saves elsewhere than the spec says: nobody looks there, and a change of the spec
  // does not concern it.
  if (!lies_below(known->uri, s.spec.checkpoint.uri)) known->manifest_digest.clear();
  if (found.committed_at) known->committed_at = stamp(*found.committed_at);
  next.checkpoint->verified_at.reset();
  return true;
}

WallTime changed_at(const TrainingJobStatus& status, std::string_view type) {
  const api::Condition* const found = api::find_condition(status.conditions, type);
  return found == nullptr || !found->changed ? WallTime{} : *found->changed;
}

bool waits_for_repair(const TrainingJobStatus& status) {
  const api::Condition* const ready =
      api::find_condition(status.conditions, api::condition::kCheckpointReady);
  return ready != nullptr && ready->reason == api::reason::kDamaged;
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

void take_reports(TrainingJobStatus& next, const Situation& s) {
  if (next.attempts.empty() || next.attempts.back().number != s.view.number) return;
  api::AttemptStatus& record = next.attempts.back();
  if (const api::Report* report = leading_report(s)) {
    if (!next.progress) next.progress.emplace();
    take_progress(*next.progress, *report);
    if (report->step) {
      if (!record.first_step) record.first_step = report->step;
      record.last_step = std::max(record.last_step.value_or(0), *report->step);
    }
  }
  const auto found = agreed_checkpoint(s);
  follow_interval(next, s, found && take_checkpoint(next, *found, s));
}

WallTime attempt_began(const TrainingJobStatus& status) {
  WallTime began = changed_at(status, api::condition::kSuspended);
  if (!api::is_true(status.conditions, api::condition::kAdmitted))
    began = std::max(began, changed_at(status, api::condition::kAdmitted));
  if (status.attempts.size() >= 2) {
    const auto& before = status.attempts[status.attempts.size() - 2];
    if (before.ended_at) began = std::max(began, *before.ended_at);
  }
  return began;
}

const api::AttemptStatus* attempt_before(const TrainingJobStatus& status) {
  const std::size_t count = status.attempts.size();
  return count < 2 ? nullptr : &status.attempts[count - 2];
}

std::optional<WallTime> backoff_until(const Situation& s) {
  const api::AttemptStatus* const before = attempt_before(s.status);
  if (before == nullptr || !before->ended_at) return std::nullopt;
  if (*before->ended_at > s.now) return std::nullopt;  // a clock was set: nobody waits for it
  const bool failed = before->outcome == AttemptOutcome::kFailed;
  const bool disrupted = before->outcome == AttemptOutcome::kDisrupted;
  const std::int32_t count = fruitless_attempts(s.status);
  if (!failed && (!disrupted || count <= 1)) return std::nullopt;
  std::chrono::nanoseconds wait = s.spec.restart.backoff.span;
  const std::chrono::nanoseconds most = s.spec.restart.backoff_max.span;
  for (std::int32_t i = 1; i < count && i < kBackoffDoublingsMax && wait < most; ++i) wait *= 2;
  return std::chrono::time_point_cast<WallTime::duration>(*before->ended_at + std::min(wait, most));
}

Used used_time(const Situation& s) {
  const TrainingJobStatus& status = s.status;
  Used used{.queue_seconds = status.elapsed.queue_seconds,
            .start_seconds = status.elapsed.start_seconds,
            .active_seconds = status.elapsed.active_seconds};
  if (!s.view.live()) return used;
  if (api::is_true(status.conditions, api::condition::kRunning)) {
    used.active_seconds += seconds_between(changed_at(status, api::condition::kRunning), s.now);
  } else if (api::is_true(status.conditions, api::condition::kAdmitted)) {
    used.start_seconds += seconds_between(changed_at(status, api::condition::kAdmitted), s.now);
  } else {
    // A backoff is our own doing, as is the wait for a sound checkpoint: no queue is waited for
    // meanwhile.
    if (waits_for_repair(status)) return used;
    const WallTime from = std::max({attempt_began(status), backoff_until(s).value_or(WallTime{}),
                                    changed_at(status, api::condition::kCheckpointReady)});
    used.queue_seconds += seconds_between(from, s.now);
  }
  return used;
}

void end_attempt(TrainingJobStatus& next, const Situation& s, AttemptOutcome outcome,
                 std::optional<api::Cause> cause) {
  take_reports(next, s);
  const Used used = used_time(s);
  const bool admitted = api::is_true(s.status.conditions, api::condition::kAdmitted);
  const bool running = api::is_true(s.status.conditions, api::condition::kRunning);
  const bool carried = outcome == AttemptOutcome::kPaused;
  next.elapsed.active_seconds = used.active_seconds;
  next.elapsed.queue_seconds = carried && !admitted ? used.queue_seconds : 0;
  next.elapsed.start_seconds = carried && !running ? used.start_seconds : 0;
  if (next.attempts.empty()) return;
  api::AttemptStatus& record = next.attempts.back();
  record.outcome = outcome;
  record.ended_at = stamp(s.now);
  record.cause = std::move(cause);
  note_start(record, s);
  if (outcome != AttemptOutcome::kSucceeded) record.lost_steps = steps_at_risk(next);
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

std::optional<std::int64_t> steps_at_risk(const TrainingJobStatus& status) {
  if (status.attempts.empty() || !status.attempts.back().last_step) return std::nullopt;
  const api::AttemptStatus& record = status.attempts.back();
  std::int64_t safe = record.resumed_from_step.value_or(0);
  if (status.checkpoint && status.checkpoint->last_committed)
    safe = std::max(safe, status.checkpoint->last_committed->step);
  return std::max<std::int64_t>(0, *record.last_step - safe);
}

}  // namespace amdahl::training
