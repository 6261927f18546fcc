#include "operator/training/unsaved.hpp"

#include "operator/training/attempts.hpp"
#include "operator/training/breakage.hpp"

namespace amdahl::training {
namespace {

// Of a rank: its trainer has begun, as far as is known, and may hold what nobody has saved.
bool may_hold_work(const Situation& s, std::uint32_t rank) {
  const PodSeen* const pod = s.view.ranks[rank];
  if (pod == nullptr || (pod->phase != kube::PodPhase::kRunning && !pod->ended())) return false;
  const api::Report* const report = report_of(s.seen, s.view, rank);
  if (report == nullptr) return true;  // its launcher is about to say
  const bool waits =
      report->phase == api::ReportPhase::kWaiting || report->phase == api::ReportPhase::kRendezvous;
  return report->step || report->checkpoint || !waits;
}

// Whether a new leader still waits for the first words of ranks that may have spoken to its
// predecessor. One that was there when they started has heard what there is to hear.
bool may_be_heard_yet(const Situation& s) {
  const auto& started = s.view.record->started_at;
  if (!s.seen.leading_since || (started && stamp(*s.seen.leading_since) <= *started)) return false;
  const auto left = hearing_left(s, s.spec.checkpoint.pause.deadline.span);
  return left > left.zero();
}

// Only its launcher knows whether a script listens, and says so when it is asked. A script that has
// worked has a launcher that reports, though none may have been heard by this process yet.
bool may_listen(const Situation& s) {
  const api::Report* const first = report_of(s.seen, s.view, 0);
  if (first == nullptr)
    return s.view.record->first_step || s.view.record->worked_at || may_be_heard_yet(s);
  return first->pause.state == api::ReportPauseState::kNone ||
         first->pause.way != api::ReportPauseWay::kNone;
}

}  // namespace

std::optional<std::int64_t> last_committed(const api::TrainingJobStatus& status) {
  if (!status.checkpoint || !status.checkpoint->last_committed) return std::nullopt;
  return status.checkpoint->last_committed->step;
}

bool keeps_checkpoints(const Situation& s) {
  if (!s.spec.checkpoint.uri.empty() || last_committed(s.status)) return true;
  for (std::uint32_t rank = 0; rank < s.view.ranks.size(); ++rank)
    if (const api::Report* report = report_of(s.seen, s.view, rank);
        report != nullptr && report->checkpoint)
      return true;
  return false;
}

bool works_uncounted(const Situation& s) {
  const api::Report* const counts = counting_report(s);
  // The steps of a hook need not be those that the script's checkpoints name.
  const bool counted =
      counts != nullptr && counts->step && counts->step_source != api::StepSource::kHook;
  if (!keeps_checkpoints(s) || counted) return false;
  for (std::uint32_t rank = 0; rank < s.view.ranks.size(); ++rank)
    if (may_hold_work(s, rank)) return true;
  return false;
}

std::optional<std::string> nothing_to_save(const Situation& s) {
  if (s.view.running == 0 && !has_stepped(s.seen, s.view)) return "no rank had started";
  if (!keeps_checkpoints(s) && !may_listen(s)) return "the job keeps no checkpoints";
  if (has_stepped(s.seen, s.view)) return std::nullopt;
  for (std::uint32_t rank = 0; rank < s.view.ranks.size(); ++rank)
    if (may_hold_work(s, rank)) return std::nullopt;
  return "no trainer had started";
}

}  // namespace amdahl::training
