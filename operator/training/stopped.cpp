// How an attempt stopped that a pause or a cancel has ended.

#include <algorithm>

#include "operator/training/attempts.hpp"
#include "operator/training/breakage.hpp"

namespace amdahl::training {
namespace {

using api::AttemptOutcome;

// As it was asked to, or not; or something else had ended it before.
std::optional<api::Cause> why_stopped(const Situation& s, const api::AttemptStatus& record) {
  AttemptEvidence attempt{.ranks = s.view.desired, .now = s.now};
  for (std::uint32_t rank = 0; rank < s.view.ranks.size(); ++rank) {
    PodEvidence pod = rank_evidence(s, rank);
    pod.intent = record.outcome == AttemptOutcome::kPaused ? Intent::kPause : Intent::kCancel;
    pod.intent_at = record.ended_at;
    attempt.pods.push_back(std::move(pod));
  }
  return diagnose(attempt).root;
}

// The ranks went on until their pods ended, and their last words tell how far.
void take_last_words(TrainingJobStatus& next, const Situation& s) {
  take_reports(next, s);
  api::AttemptStatus& record = next.attempts.back();
  record.lost_steps = steps_at_risk(next, s.spec);
  if (next.cancel) next.cancel->last_step = record.last_step;
}

}  // namespace

void note_stop(TrainingJobStatus& next, const Situation& s) {
  if (next.attempts.empty() || next.attempts.back().number != s.view.number) return;
  api::AttemptStatus& record = next.attempts.back();
  const bool asked =
      record.outcome == AttemptOutcome::kPaused || record.outcome == AttemptOutcome::kCancelled;
  if (!asked || record.cause || !record.started_at) return;
  const bool over = std::ranges::all_of(
      s.view.ranks, [&](const PodSeen* pod) { return pod == nullptr || is_over(*pod, s.now); });
  if (!over) return;
  record.cause = why_stopped(s, record);
  if (record.outcome == AttemptOutcome::kCancelled) take_last_words(next, s);
}

}  // namespace amdahl::training
