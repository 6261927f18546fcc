#include "operator/training/account.hpp"

#include <algorithm>

namespace amdahl::training {
namespace {

// Until when the pod held its GPUs. The end of a pod that nobody reported is the end of its grace,
// or else the moment its attempt was given up.
WallTime released(const PodSeen& pod, const api::AttemptStatus& record, WallTime now) {
  if (pod.finished) return *pod.finished;
  if (pod.deleted && is_over(pod, now)) return *pod.deleted;
  return pod.ended() && record.ended_at ? *record.ended_at : now;
}

std::int64_t held_by(const Situation& s, const api::AttemptStatus& record) {
  std::int64_t held = 0;
  for (const PodSeen* pod : s.view.ours)
    if (pod->bound && static_cast<std::int64_t>(pod->attempt) == record.number)
      held += pod->gpus * seconds_between(*pod->bound, released(*pod, record, s.now));
  return held;
}

}  // namespace

void account_held(TrainingJobStatus& next, const Situation& s) {
  for (api::AttemptStatus& record : next.attempts) {
    const std::int64_t held = held_by(s, record);
    if (held <= record.held_gpu_seconds) continue;
    if (!next.gpu_seconds) next.gpu_seconds.emplace();
    next.gpu_seconds->held += held - record.held_gpu_seconds;
    record.held_gpu_seconds = held;
  }
}

bool is_settled(const Situation& s, std::uint32_t attempt) {
  for (const PodSeen* pod : s.view.ours)
    if (pod->attempt == attempt && !is_over(*pod, s.now)) return false;
  const auto record = std::ranges::find(s.status.attempts, static_cast<std::int32_t>(attempt),
                                        &api::AttemptStatus::number);
  return record == s.status.attempts.end() || held_by(s, *record) <= record->held_gpu_seconds;
}

}  // namespace amdahl::training
