#include "operator/training/sound_status.hpp"

#include <algorithm>

#include "base/each_field.hpp"
#include "operator/api/bounds.hpp"
#include "operator/training/attempt_view.hpp"

namespace amdahl::training {
namespace {

// Numbers ascend: what is out of order was not written by us.
void drop_odd_records(api::TrainingJobStatus& status) {
  std::int32_t last = 0;
  std::erase_if(status.attempts, [&](const api::AttemptStatus& attempt) {
    if (attempt.number <= last || attempt.number > kAttemptNumberMax) return true;
    last = attempt.number;
    return false;
  });
}

// Sums and differences of these fit into nanoseconds, in which policies count.
constexpr WallTime kTimeMin{std::chrono::sys_days{std::chrono::year{1970} / 1 / 1}};
constexpr WallTime kTimeMax{std::chrono::sys_days{std::chrono::year{2200} / 1 / 1}};

template <class T>
void drop_far_times(T& member) {
  if constexpr (std::is_same_v<T, std::optional<WallTime>>) {
    if (member && (*member < kTimeMin || *member > kTimeMax)) member.reset();
  } else if constexpr (HasFields<T>) {
    each_field(member,
               [](std::string_view, auto& below, const FieldRules&) { drop_far_times(below); });
  } else if constexpr (requires { member.has_value(); }) {
    if (member) drop_far_times(*member);
  } else if constexpr (requires { member.front(); } && !std::is_same_v<T, std::string>) {
    for (auto& item : member) drop_far_times(item);
  }
}

// 4,096 pods hold it in three years with 250 GPUs each; sums over all attempts stay far below what
// the CRD takes.
constexpr std::int64_t kGpuSecondsMax = 100'000'000'000'000;

bool is_too_much(const std::vector<api::PhaseSeconds>& phases) {
  std::int64_t sum = 0;  // of few, each of which the CRD bounds
  for (const api::PhaseSeconds& phase : phases) sum += phase.seconds;
  return sum > kGpuSecondsMax;
}

// An account that nobody can have held would be refused with every status that adds to it.
void drop_odd_account(api::TrainingJobStatus& status) {
  for (api::AttemptStatus& attempt : status.attempts)
    if (attempt.held_gpu_seconds > kGpuSecondsMax) attempt.held_gpu_seconds = 0;
  if (!status.gpu_seconds) return;
  const auto& settled = status.gpu_seconds->settled;
  if (status.gpu_seconds->held > kGpuSecondsMax || is_too_much(status.gpu_seconds->phases) ||
      (settled && is_too_much(settled->phases)))
    status.gpu_seconds.reset();
}

// An attempt that still makes pods has the size of the spec, which may change only while the job is
// to be suspended. Otherwise a status would make as many pods as it likes.
bool is_of_another_size(const TrainingJob& job) {
  const auto& workers = job.status.workers;
  return !job.spec.suspend && workers && workers->created < workers->desired &&
         workers->desired != job.spec.nodes;
}

}  // namespace

std::optional<api::TrainingJobStatus> mended_status(const TrainingJob& job, WallTime now) {
  api::TrainingJobStatus status = job.status;
  drop_odd_records(status);
  drop_far_times(status);
  // The CRD demands this one: a status without it would be refused, with whatever else it says.
  for (api::Condition& condition : status.conditions)
    if (!condition.changed) condition.changed = now;
  drop_odd_account(status);
  // Asked for at no time that counts: the pause begins again.
  if (status.pause && job.status.pause->requested_at && !status.pause->requested_at)
    status.pause.reset();
  const bool counted = status.attempt > 0 && status.attempt <= kAttemptNumberMax;
  if (status.attempts.empty() && counted) status.attempts.push_back({.number = status.attempt});
  status.attempt = status.attempts.empty() ? 0 : status.attempts.back().number;
  if (status.attempts.empty() && !is_finished(status) && !is_parked(status)) {
    status.conditions.clear();  // as of a new job
    status.pause.reset();
  }
  const bool goes_on = !status.attempts.empty() && !is_finished(status) &&
                       status.attempts.back().outcome == api::AttemptOutcome::kUnknown;
  if (goes_on && (!status.workers || status.workers->desired < 1 || is_of_another_size(job)))
    status.workers =
        api::WorkersStatus{.desired = std::clamp<std::int32_t>(job.spec.nodes, 1, api::kNodesMax)};
  if (status == job.status) return std::nullopt;
  return status;
}

}  // namespace amdahl::training
