#include "operator/training/attempt_view.hpp"

#include <algorithm>

#include "operator/api/condition.hpp"
#include "operator/api/names.hpp"

namespace amdahl::training {
namespace {

using kube::PodPhase;

void count(AttemptView& view, const PodSeen& pod) {
  ++view.created;
  const bool started = pod.phase == PodPhase::kRunning || pod.ended();
  view.bound += !pod.node.empty() ? 1 : 0;
  view.running += started ? 1 : 0;
  view.ready += pod.ready && pod.phase == PodPhase::kRunning ? 1 : 0;
  view.succeeded += ended_well(pod) ? 1 : 0;
}

bool is_rank(const PodSeen& pod, const AttemptView& view, const TrainingJob& job) {
  return view.number > 0 && static_cast<std::int64_t>(pod.attempt) == view.number &&
         is_made_by_us(pod, view, job);
}

}  // namespace

AttemptView view_of(const Observed& seen) {
  AttemptView view;
  if (!seen.job) {
    for (const PodSeen& pod : seen.pods) view.others.push_back(&pod);
    return view;
  }
  const api::TrainingJobStatus& status = seen.job->status;
  view.number = status.attempt;
  view.desired = status.workers ? status.workers->desired : 0;
  if (!status.attempts.empty() && status.attempts.back().number == status.attempt)
    view.record = &status.attempts.back();
  view.ranks.resize(static_cast<std::size_t>(std::max(view.desired, 0)));
  for (const PodSeen& pod : seen.pods) {
    if (pod.owner_uid != seen.job->metadata.uid) {
      view.others.push_back(&pod);
      continue;
    }
    view.ours.push_back(&pod);
    if (!is_rank(pod, view, *seen.job)) continue;
    view.ranks[pod.rank] = &pod;
    count(view, pod);
  }
  return view;
}

bool is_made_by_us(const PodSeen& pod, const AttemptView& view, const TrainingJob& job) {
  if (pod.owner_uid != job.metadata.uid) return false;
  const bool current = static_cast<std::int64_t>(pod.attempt) == view.number;
  if (current && pod.rank >= view.ranks.size()) return false;
  return pod.name == api::pod_name(job.metadata.name, pod.attempt, pod.rank);
}

bool ended_well(const PodSeen& pod) {
  if (pod.phase != PodPhase::kSucceeded) return false;
  if (!pod.deleted || !pod.finished) return true;
  const std::chrono::seconds grace{pod.deletion_grace.value_or(0)};
  return *pod.finished <= *pod.deleted - grace;
}

bool is_over(const PodSeen& pod, WallTime now) {
  if (pod.ended()) return true;
  if (!pod.deleted) return false;
  return pod.node.empty() || pod.deletion_grace == 0 || *pod.deleted + kStuckTerminatingMax <= now;
}

std::vector<std::uint32_t> missing_ranks(const AttemptView& view) {
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = 0; rank < view.ranks.size(); ++rank)
    if (view.ranks[rank] == nullptr) missing.push_back(rank);
  return missing;
}

const api::Report* report_of(const Observed& seen, const AttemptView& view, std::uint32_t rank) {
  const PodSeen* const pod = rank < view.ranks.size() ? view.ranks[rank] : nullptr;
  if (pod == nullptr) return nullptr;
  if (pod->last_words) return &*pod->last_words;
  for (const RankReport& one : seen.reports)
    if (one.report.pod_uid == pod->uid) return &one.report;
  return nullptr;
}

bool has_stepped(const Observed& seen, const AttemptView& view) {
  return view.record->first_step.has_value() ||
         std::ranges::any_of(seen.reports,
                             [](const RankReport& one) { return one.report.step.has_value(); });
}

bool is_last_committed(const std::optional<api::CheckpointStatus>& saved, std::int64_t step) {
  return saved && saved->last_committed && saved->last_committed->step == step;
}

bool has_worked(const Observed& seen, const AttemptView& view,
                const std::optional<api::CheckpointStatus>& saved) {
  if (view.record == nullptr) return false;
  if (view.record->worked_at || has_stepped(seen, view)) return true;
  // What an earlier attempt saved is found, and reported, at every start.
  const std::int64_t resumed = view.record->resumed_from_step.value_or(-1);
  return std::ranges::any_of(seen.reports, [&](const RankReport& one) {
    return is_at_work(one.report.phase) ||
           (one.report.checkpoint && one.report.checkpoint->step > resumed &&
            !is_last_committed(saved, one.report.checkpoint->step));
  });
}

bool is_at_work(api::ReportPhase phase) {
  using enum api::ReportPhase;
  return phase == kTrain || phase == kEval || phase == kCheckpointSave;
}

bool is_finished(const api::TrainingJobStatus& status) {
  return api::is_true(status.conditions, api::condition::kSucceeded) ||
         api::is_true(status.conditions, api::condition::kFailed) ||
         api::is_true(status.conditions, api::condition::kCancelled);
}

bool is_parked(const api::TrainingJobStatus& status) {
  if (!status.attempts.empty())
    return status.attempts.back().outcome == api::AttemptOutcome::kPaused;
  return status.pause && status.pause->outcome != api::PauseOutcome::kUnknown;
}

bool is_pausing(const api::TrainingJobStatus& status) {
  return status.pause && status.pause->outcome == api::PauseOutcome::kUnknown;
}

bool pause_refused(const api::TrainingJobStatus& status) {
  return status.pause && status.pause->outcome == api::PauseOutcome::kRefused;
}

bool owned_by(const std::vector<kube::OwnerReference>& owners, std::string_view uid) {
  const kube::OwnerReference* const owner = kube::controller_of(owners);
  return owner != nullptr && owner->uid == uid;
}

WallTime stamp(WallTime now) {
  return std::chrono::floor<std::chrono::seconds>(now);
}

std::int64_t seconds_between(WallTime from, WallTime to) {
  return std::max<std::int64_t>(
      0, std::chrono::duration_cast<std::chrono::seconds>(to - from).count());
}

}  // namespace amdahl::training
