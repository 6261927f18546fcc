#include "operator/training/account.hpp"

#include <algorithm>

#include "operator/api/names.hpp"
#include "operator/waste/account.hpp"
#include "operator/waste/fallback.hpp"

namespace amdahl::training {
namespace {

waste::ReportedSeconds reported_of(const api::Report& report) {
  waste::ReportedSeconds sum;
  for (const api::ReportPhaseSeconds& phase : report.phases) {
    using enum api::ReportPhase;
    switch (phase.name) {
      case kInit:
        sum.init += phase.seconds;
        break;
      case kWaiting:
      case kRendezvous:
        sum.rendezvous += phase.seconds;
        break;
      case kTrain:
      case kEval:
        sum.productive += phase.seconds;
        break;
      case kDataWait:
        sum.data_wait += phase.seconds;
        break;
      case kCheckpointSave:
        sum.checkpoint_save += phase.seconds;
        break;
      case kCheckpointRestore:
        sum.checkpoint_restore += phase.seconds;
        break;
      case kStopping:
        sum.stopping += phase.seconds;
        break;
      case kUnattributed:
        break;
    }
  }
  return sum;
}

// Since when the pod holds nothing any more. The end of a pod that nobody reported is the end of
// its grace, or else the moment its attempt was given up.
std::optional<WallTime> released(const PodSeen& pod, const api::AttemptStatus& record,
                                 WallTime now) {
  if (!is_over(pod, now)) return std::nullopt;
  if (pod.finished) return pod.finished;
  return pod.deleted ? pod.deleted : record.ended_at;
}

std::optional<WallTime> started(const PodSeen& pod) {
  if (!pod.object) return std::nullopt;
  const auto& containers = pod.object->status.containers;
  for (const kube::ContainerStatus& container : containers) {
    if (containers.size() > 1 && container.name != api::kTrainerContainer) continue;
    if (container.state.running) return container.state.running->started;
    if (container.state.terminated) return container.state.terminated->started;
  }
  return std::nullopt;
}

waste::PodTimeline timeline_of(const PodSeen& pod, const api::AttemptStatus& record,
                               const Situation& s) {
  waste::PodTimeline line{.pod = pod.name,
                          .gpus = pod.gpus,
                          .bound = pod.bound,
                          .started = started(pod),
                          .finished = pod.finished,
                          .released = released(pod, record, s.now)};
  if (pod.deleted)
    line.stop_asked = *pod.deleted - std::chrono::seconds{pod.deletion_grace.value_or(0)};
  if (pod.last_words) line.reported = reported_of(*pod.last_words);
  for (const auto* reports : {&s.seen.reports, &s.seen.reports_before})
    for (const RankReport& one : *reports)
      if (!pod.last_words && one.report.pod_uid == pod.uid) line.reported = reported_of(one.report);
  return line;
}

waste::AttemptTimeline timeline_of(const api::AttemptStatus& record, const Situation& s) {
  waste::AttemptTimeline line{.number = record.number, .ended = record.ended_at.has_value()};
  const bool broke = record.outcome == api::AttemptOutcome::kFailed ||
                     record.outcome == api::AttemptOutcome::kDisrupted;
  if (broke) line.failed_at = record.ended_at;
  line.steps_made = std::max<std::int64_t>(
      0, record.last_step.value_or(0) - record.resumed_from_step.value_or(0));
  line.steps_lost = record.lost_steps.value_or(0);
  for (const PodSeen* pod : s.view.ours)
    if (static_cast<std::int64_t>(pod->attempt) == record.number &&
        is_made_by_us(*pod, s.view, s.job()))
      line.pods.push_back(timeline_of(*pod, record, s));
  line.ranks =
      record.number == s.view.number ? s.view.desired : static_cast<std::int64_t>(line.pods.size());
  return line;
}

}  // namespace

void account_held(TrainingJobStatus& next, const Situation& s) {
  std::vector<waste::AttemptTimeline> timelines;
  for (const api::AttemptStatus& record : next.attempts)
    if (auto line = timeline_of(record, s); !line.pods.empty())
      timelines.push_back(std::move(line));
  const waste::Account account = waste::account({.previous = next.gpu_seconds,
                                                 .recorded = next.attempts,
                                                 .timelines = timelines,
                                                 .now = s.now});
  for (const waste::AttemptAccount& one : account.attempts)
    for (api::AttemptStatus& record : next.attempts) {
      if (record.number != one.number) continue;
      record.held_gpu_seconds = one.held;
      record.trained_gpu_seconds =
          one.phases[waste::Phase::kProductive] + one.phases[waste::Phase::kLostWork];
    }
  if (account.total.held > 0 || account.total.settled) next.gpu_seconds = account.total;
}

void recount_lost(TrainingJobStatus& next, std::size_t attempts, std::int64_t believed,
                  std::int64_t real) {
  attempts = std::min(attempts, next.attempts.size());
  if (attempts == 0) return;
  api::AttemptStatus& before = next.attempts[attempts - 1];
  if (before.last_step) before.lost_steps = std::max<std::int64_t>(0, *before.last_step - real);
  if (!next.gpu_seconds) return;
  waste::recount(*next.gpu_seconds, std::span(next.attempts).first(attempts),
                 {.believed = believed, .real = real});
}

bool is_settled(const Situation& s, std::uint32_t attempt) {
  const bool recorded = std::ranges::any_of(s.status.attempts, [&](const auto& record) {
    return record.number == static_cast<std::int64_t>(attempt);
  });
  bool held = false;
  for (const PodSeen* pod : s.view.ours) {
    if (pod->attempt != attempt || !is_made_by_us(*pod, s.view, s.job())) continue;
    if (!is_over(*pod, s.now)) return false;
    held = held || (pod->gpus > 0 && pod->bound);
  }
  const auto& account = s.status.gpu_seconds;
  // Forgotten: there is no record any more that could be settled.
  if (!recorded) return true;
  return !held || (account && account->settled &&
                   account->settled->attempt >= static_cast<std::int64_t>(attempt));
}

}  // namespace amdahl::training
