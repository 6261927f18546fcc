#include "operator/waste/timeline.hpp"

#include <algorithm>
#include <cmath>

namespace amdahl::waste {
namespace {

constexpr double kMicrosPerSecond = 1e6;

WideMicros micros(std::chrono::microseconds time) {
  return time.count();
}

struct Window {  // begin <= ready <= started <= finished <= cut <= end
  WallTime begin = {};
  WallTime ready = {};  // the gang is complete
  WallTime started = {};
  WallTime finished = {};
  WallTime cut = {};  // from here on it is recovery
  WallTime end = {};
};

Window window_of(const PodTimeline& pod, const AttemptTimeline& attempt, WallTime now) {
  const WallTime begin = *pod.bound;
  const WallTime end = std::max(begin, pod.released.value_or(now));
  const WallTime cut = std::clamp(attempt.failed_at.value_or(end), begin, end);
  const WallTime started = std::clamp(pod.started.value_or(cut), begin, cut);
  const WallTime ready = std::clamp(gang_bound(attempt).value_or(started), begin, started);
  const WallTime finished = std::clamp(pod.finished.value_or(cut), started, cut);
  return {begin, ready, started, finished, cut, end};
}

// At most the whole window; anything that is not a number of seconds is none.
WideMicros believed(double seconds, WideMicros most) {
  if (!std::isfinite(seconds) || seconds <= 0) return 0;
  const double wanted = seconds * kMicrosPerSecond;
  if (wanted >= static_cast<double>(most)) return most;
  return static_cast<WideMicros>(wanted);
}

// Parts that claim more than there was shrink in proportion. Rounding down leaves a few
// microseconds, which stay unattributed.
void shrink_to(PerPhase<WideMicros>& parts, WideMicros most) {
  const WideMicros claimed = parts.sum();
  if (claimed <= most) return;
  for (WideMicros& part : parts.values) part = part * most / claimed;
}

PerPhase<WideMicros> running_parts(const ReportedSeconds& reported, WideMicros most) {
  PerPhase<WideMicros> parts;
  parts[Phase::kInit] = believed(reported.init, most);
  parts[Phase::kRendezvous] = believed(reported.rendezvous, most);
  parts[Phase::kProductive] = believed(reported.productive, most);
  parts[Phase::kDataWait] = believed(reported.data_wait, most);
  parts[Phase::kCheckpointSave] = believed(reported.checkpoint_save, most);
  parts[Phase::kCheckpointRestore] = believed(reported.checkpoint_restore, most);
  parts[Phase::kIdle] = believed(reported.idle, most);
  parts[Phase::kStopping] = believed(reported.stopping, most);
  shrink_to(parts, most);
  return parts;
}

bool tells_steps(const PodTimeline& pod) {
  return std::isfinite(pod.reported.productive) && pod.reported.productive > 0;
}

// The ranks of a gang step together, and many programs print on one rank only. The time that a
// silent rank leaves unsaid went where the time of the rank that tells went. Left unattributed, it
// would make a job of eight nodes at most 12 % useful, and its lost work an eighth of what it is.
void follow_gang(PerPhase<WideMicros>& parts, const PodTimeline& pod,
                 const AttemptTimeline& attempt, WideMicros most) {
  if (tells_steps(pod)) return;
  const auto teller = std::ranges::find_if(attempt.pods, tells_steps);
  if (teller == attempt.pods.end()) return;
  PerPhase<WideMicros> followed = running_parts(teller->reported, most);
  for (std::size_t i = 0; i < kPhases; ++i)  // what it says of itself is known better
    followed.values[i] = std::max<WideMicros>(0, followed.values[i] - parts.values[i]);
  shrink_to(followed, most - parts.sum());
  parts += followed;
}

void move_lost_work(PerPhase<WideMicros>& parts, const AttemptTimeline& attempt) {
  if (!attempt.ended || attempt.steps_made <= 0) return;
  const std::int64_t lost = std::clamp<std::int64_t>(attempt.steps_lost, 0, attempt.steps_made);
  const WideMicros moved = parts[Phase::kProductive] * lost / attempt.steps_made;
  parts[Phase::kProductive] -= moved;
  parts[Phase::kLostWork] += moved;
}

void take_earlier(std::optional<WallTime>& known, const std::optional<WallTime>& seen) {
  if (seen && (!known || *seen < *known)) known = seen;
}

void take_new(std::optional<WallTime>& known, const std::optional<WallTime>& seen) {
  if (seen) known = seen;
}

void take_more(double& known, double seen) {
  if (std::isfinite(seen) && seen > known) known = seen;
}

void update(PodTimeline& known, const PodTimeline& seen) {
  known.gpus = std::max(known.gpus, seen.gpus);
  take_earlier(known.bound, seen.bound);
  take_earlier(known.started, seen.started);  // a restart of the container is not a new start
  take_new(known.finished, seen.finished);
  take_earlier(known.released, seen.released);
  take_earlier(known.stop_asked, seen.stop_asked);
  take_more(known.reported.init, seen.reported.init);
  take_more(known.reported.rendezvous, seen.reported.rendezvous);
  take_more(known.reported.productive, seen.reported.productive);
  take_more(known.reported.data_wait, seen.reported.data_wait);
  take_more(known.reported.checkpoint_save, seen.reported.checkpoint_save);
  take_more(known.reported.checkpoint_restore, seen.reported.checkpoint_restore);
  take_more(known.reported.idle, seen.reported.idle);
  take_more(known.reported.stopping, seen.reported.stopping);
}

}  // namespace

std::optional<WallTime> gang_bound(const AttemptTimeline& attempt) {
  std::optional<WallTime> last;
  std::int64_t bound = 0;
  for (const PodTimeline& pod : attempt.pods) {
    if (!pod.bound) continue;
    ++bound;
    last = std::max(last.value_or(*pod.bound), *pod.bound);
  }
  return bound >= attempt.ranks ? last : std::nullopt;
}

PerPhase<WideMicros> split(const PodTimeline& pod, const AttemptTimeline& attempt, WallTime now) {
  if (!pod.bound) return {};
  const Window at = window_of(pod, attempt, now);
  const WideMicros running = micros(at.finished - at.started);
  PerPhase<WideMicros> parts = running_parts(pod.reported, running);
  follow_gang(parts, pod, attempt, running);
  const WideMicros rest = running - parts.sum();
  const WallTime asked = std::clamp(pod.stop_asked.value_or(at.finished), at.started, at.finished);
  const WideMicros told = parts[Phase::kStopping];
  const WideMicros asked_for = std::max<WideMicros>(micros(at.finished - asked) - told, 0);
  const WideMicros stopping = std::min(rest, asked_for);
  parts[Phase::kPendingHold] += micros(at.ready - at.begin);
  parts[Phase::kInit] += micros(at.started - at.ready);
  parts[Phase::kStopping] += stopping + micros(at.cut - at.finished);
  parts[Phase::kRecovery] += micros(at.end - at.cut);
  parts[Phase::kUnattributed] += rest - stopping;
  move_lost_work(parts, attempt);
  return parts;
}

void remember(AttemptTimeline& known, const AttemptTimeline& seen, WallTime now) {
  known.number = seen.number;
  known.ranks = seen.ranks;
  known.ended = known.ended || seen.ended;
  known.steps_made = std::max(known.steps_made, seen.steps_made);
  known.steps_lost = seen.steps_lost;
  take_earlier(known.failed_at, seen.failed_at);
  for (PodTimeline& pod : known.pods)
    if (std::ranges::find(seen.pods, pod.pod, &PodTimeline::pod) == seen.pods.end())
      take_earlier(pod.released, now);
  for (const PodTimeline& pod : seen.pods) {
    const auto old = std::ranges::find(known.pods, pod.pod, &PodTimeline::pod);
    if (old != known.pods.end())
      update(*old, pod);
    else if (known.pods.size() < kTimelinePodsMax)
      known.pods.push_back(pod);
  }
}

}  // namespace amdahl::waste
