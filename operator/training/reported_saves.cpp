#include "operator/training/reported_saves.hpp"

#include <algorithm>
#include <cmath>

#include "operator/training/attempt_view.hpp"
#include "operator/training/checkpoint_check.hpp"
#include "operator/training/checkpoint_interval.hpp"

namespace amdahl::training {
namespace {

using api::TrainingJobStatus;

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

// Of all ranks: a save fails on each of them, or on one alone.
void take_failed_saves(TrainingJobStatus& next, const Situation& s) {
  const api::ReportFailedSaves* last = nullptr;
  std::int64_t count = 0;
  for (std::uint32_t rank = 0; rank < s.view.ranks.size(); ++rank) {
    const api::Report* const report = report_of(s.seen, s.view, rank);
    if (report == nullptr || !report->failed_saves || report->failed_saves->count <= 0) continue;
    count = std::max(count, report->failed_saves->count);
    if (last == nullptr || report->failed_saves->at > last->at) last = &*report->failed_saves;
  }
  if (last == nullptr) return;
  if (!next.checkpoint) next.checkpoint.emplace();
  api::CheckpointStatus& status = *next.checkpoint;
  status.failed_saves = std::max(status.failed_saves, static_cast<std::int32_t>(count));
  const WallTime at = stamp(last->at.value_or(s.now));
  const auto& known = status.last_failed_save;
  if (known && known->at && (!last->at || *known->at >= at)) return;
  status.last_failed_save = api::FailedSave{.message = last->message, .at = at};
}

// A trainer that counts no steps for us has made those of its checkpoints. What an earlier attempt
// had saved is no step of this one.
void prove_steps(api::AttemptStatus& record, const api::ReportCheckpoint& found) {
  if (found.step <= record.resumed_from_step.value_or(-1)) return;
  if (!record.first_step) record.first_step = found.step;
  record.last_step = std::max(record.last_step.value_or(0), found.step);
}

}  // namespace

void take_saves(TrainingJobStatus& next, const Situation& s) {
  take_failed_saves(next, s);
  const auto found = agreed_checkpoint(s);
  if (found && !is_last_committed(s.status.checkpoint, found->step))
    prove_steps(next.attempts.back(), *found);
  follow_interval(next, s, found && take_checkpoint(next, *found, s));
}

}  // namespace amdahl::training
