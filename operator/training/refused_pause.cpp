#include "operator/training/refused_pause.hpp"

#include <algorithm>

#include "operator/training/attempts.hpp"

namespace amdahl::training {
namespace {

using api::ReportPauseState;
using api::ReportPauseWay;

bool all_say(const Situation& s, ReportPauseState state) {
  if (s.view.ranks.empty()) return false;
  for (std::uint32_t rank = 1; rank < s.view.ranks.size(); ++rank) {
    const api::Report* const report = report_of(s.seen, s.view, rank);
    if (report == nullptr || report->pause.state != state) return false;
  }
  return s.view.ranks.size() > 1;
}

std::optional<std::int64_t> newer_checkpoint(const Situation& s) {
  const api::Report* const report = report_of(s.seen, s.view, 0);
  if (report == nullptr || !report->checkpoint) return std::nullopt;
  if (report->checkpoint->step <= s.status.pause->step.value_or(-1)) return std::nullopt;
  return report->checkpoint->step;
}

// No step was made after the one that is safe. nullopt: the ranks count no steps, or hooks do,
// whose steps need not be those of the checkpoints.
std::optional<bool> covers(const Situation& s, std::int64_t step) {
  const api::Report* const report = counting_report(s);
  if (report == nullptr || !report->step || report->step_source == api::StepSource::kHook)
    return std::nullopt;
  return *report->step <= step;
}

// A launcher that has not been asked yet may find a way.
bool cannot_be_asked(const api::Report& report) {
  return report.pause.state != ReportPauseState::kNone && report.pause.way == ReportPauseWay::kNone;
}

bool may_end_at(const Situation& s, std::int64_t step, const api::Report* first) {
  const bool promised = s.spec.checkpoint.pause.policy == api::PausePolicy::kCommitted;
  if (!promised || first == nullptr || leaves_alone(s) || cannot_be_asked(*first)) return true;
  // Without a count the word of the launcher is all there is.
  return covers(s, step).value_or(first->pause.state == ReportPauseState::kCommitted);
}

AfterCommit ask_again(const Situation& s, const api::Report& first) {
  using enum ReportPauseState;
  // A trainer that was asked and has not answered yet still may, also after the deadline.
  const auto state = first.pause.state;
  const bool through = state == kNone || state == kFailed || state == kCommitted;
  if (!through || first.exit) return AfterCommit::kWait;
  const bool held = std::ranges::any_of(
      s.seen.reports, [](const RankReport& one) { return one.report.pause.state != kNone; });
  return held ? AfterCommit::kTakeBack : AfterCommit::kAsk;
}

}  // namespace

std::optional<std::int64_t> committed_step(const Situation& s) {
  const api::Report* report = report_of(s.seen, s.view, 0);
  const bool first = report != nullptr && report->pause.state == ReportPauseState::kCommitted;
  if (!first && !all_say(s, ReportPauseState::kCommitted)) return std::nullopt;
  if (!first) report = report_of(s.seen, s.view, 1);
  if (report->pause.step) return report->pause.step;
  if (report->checkpoint) return report->checkpoint->step;
  return report->step.value_or(0);
}

bool leaves_alone(const Situation& s) {
  if (!pause_refused(s.status)) return false;
  const api::AttemptStatus* const before = attempt_before(s.status);
  if (before == nullptr || before->outcome == api::AttemptOutcome::kDisrupted) return false;
  return s.status.pause->recorded_at <= before->ended_at;
}

std::optional<NewCommit> after_commit(const Situation& s) {
  if (!pause_refused(s.status)) return std::nullopt;
  const api::Report* const first = report_of(s.seen, s.view, 0);
  const auto asked = committed_step(s);
  const auto newer = newer_checkpoint(s);
  if (asked && may_end_at(s, *asked, first)) return NewCommit{*asked, AfterCommit::kEnd};
  if (!newer) return std::nullopt;
  if (may_end_at(s, *newer, first)) return NewCommit{*newer, AfterCommit::kEnd};
  return NewCommit{*newer, ask_again(s, *first)};
}

}  // namespace amdahl::training
