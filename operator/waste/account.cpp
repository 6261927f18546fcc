#include "operator/waste/account.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "operator/waste/phase_rows.hpp"

namespace amdahl::waste {
namespace {

constexpr WideMicros kMicrosPerSecond = 1'000'000;

std::int64_t bounded(WideMicros seconds) {
  return static_cast<std::int64_t>(std::clamp<WideMicros>(seconds, 0, api::kIntegerMax));
}

bool all_released(const AttemptTimeline& attempt) {
  return std::ranges::all_of(
      attempt.pods, [](const PodTimeline& pod) { return pod.released.has_value() || !pod.bound; });
}

// What is known of one attempt from both sides.
struct Known {
  const AttemptTimeline* timeline = nullptr;
  const api::AttemptStatus* record = nullptr;

  bool settles() const {
    const bool ended = (timeline != nullptr && timeline->ended) ||
                       (record != nullptr && record->ended_at.has_value());
    return ended && (timeline == nullptr || all_released(*timeline));
  }
};

std::map<std::int32_t, Known> open_attempts(const AccountInput& input, std::int32_t settled) {
  std::map<std::int32_t, Known> open;
  for (const AttemptTimeline& timeline : input.timelines)
    if (timeline.number > settled) open[timeline.number].timeline = &timeline;
  for (const api::AttemptStatus& record : input.recorded)
    if (record.number > settled) open[record.number].record = &record;
  return open;
}

AttemptAccount account_known(std::int32_t number, const Known& known, WallTime now) {
  AttemptAccount account{.number = number};
  if (known.timeline != nullptr) account = account_attempt(*known.timeline, now);
  const std::int64_t recorded = known.record == nullptr ? 0 : known.record->held_gpu_seconds;
  if (recorded > account.held) {  // pods that are gone and forgotten
    account.phases[Phase::kUnattributed] += recorded - account.held;
    account.held = recorded;
  }
  return account;
}

api::GpuSecondsStatus total_of(const PerPhase<std::int64_t>& phases) {
  api::GpuSecondsStatus total{.held = phases.sum(), .phases = to_rows(phases)};
  // Where nobody understood a step, zero would say that nothing was useful.
  const bool told = phases[Phase::kProductive] + phases[Phase::kLostWork] > 0 ||
                    phases[Phase::kUnattributed] == 0;
  if (total.held > 0 && told)
    // Three digits, as people read it in a column.
    total.goodput = std::round(1000 * static_cast<double>(phases[Phase::kProductive]) /
                               static_cast<double>(total.held)) /
                    1000;
  return total;
}

}  // namespace

PerPhase<std::int64_t> apportion(const PerPhase<WideMicros>& parts, WideMicros unit) {
  PerPhase<std::int64_t> whole;
  std::array<std::size_t, kPhases> order = {};
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = 0; i < kPhases; ++i) whole.values[i] = bounded(parts.values[i] / unit);
  const auto largest_first = [&](std::size_t i) { return std::pair(-(parts.values[i] % unit), i); };
  std::ranges::sort(order, {}, largest_first);
  std::int64_t left = bounded(parts.sum() / unit) - whole.sum();
  for (std::size_t i = 0; i < kPhases && left > 0; ++i, --left) ++whole.values[order[i]];
  return whole;
}

AttemptAccount account_attempt(const AttemptTimeline& attempt, WallTime now) {
  PerPhase<WideMicros> sums;
  for (const PodTimeline& pod : attempt.pods) {
    const WideMicros gpus = std::clamp<std::int64_t>(pod.gpus, 0, kPodGpusMax);
    PerPhase<WideMicros> parts = split(pod, attempt, now);
    for (WideMicros& part : parts.values) part *= gpus;
    sums += parts;
  }
  AttemptAccount account{.number = attempt.number, .phases = apportion(sums, kMicrosPerSecond)};
  account.held = account.phases.sum();
  return account;
}

Account account(const AccountInput& input) {
  api::SettledGpuSeconds settled;
  if (input.previous && input.previous->settled) settled = *input.previous->settled;
  PerPhase<std::int64_t> closed = from_rows(settled.phases);
  PerPhase<std::int64_t> all = closed;
  Account result;
  bool settling = true;  // in order: an attempt is settled after those before it
  for (const auto& [number, known] : open_attempts(input, settled.attempt)) {
    result.attempts.push_back(account_known(number, known, input.now));
    all += result.attempts.back().phases;
    settling = settling && known.settles();
    if (!settling) continue;
    settled.attempt = number;
    closed += result.attempts.back().phases;
  }
  result.total = total_of(all);
  settled.phases = to_rows(closed);
  if (settled.attempt > 0) result.total.settled = std::move(settled);
  return result;
}

}  // namespace amdahl::waste
