// When the pods of an attempt held GPUs, and what they say they did with them.
//
// Plain values, any thread. Times come from several machines and may be missing or go backwards;
// reported seconds come from the workload and may be anything. split() takes both as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "operator/waste/phases.hpp"

namespace amdahl::waste {

inline constexpr std::size_t kTimelinePodsMax = 4096;  // of one attempt
inline constexpr std::int64_t kPodGpusMax = 128;

__extension__ using WideMicros = __int128;  // microseconds, or GPU-microseconds

// Since the container began, cumulative, in seconds. Hostile. Evaluation is productive, waiting for
// the names of peers is rendezvous.
struct ReportedSeconds {
  double init = 0;
  double rendezvous = 0;
  double productive = 0;
  double data_wait = 0;
  double checkpoint_save = 0;
  double checkpoint_restore = 0;
  double idle = 0;
  double stopping = 0;
};

struct PodTimeline {
  std::string pod = {};
  std::int64_t gpus = 0;
  std::optional<WallTime> bound = {};     // PodScheduled became True
  std::optional<WallTime> started = {};   // the trainer container
  std::optional<WallTime> finished = {};  // the trainer container
  std::optional<WallTime> released = {};  // the pod ended or is gone; nothing: it holds its GPUs
  std::optional<WallTime> stop_asked = {};
  ReportedSeconds reported = {};
};

struct AttemptTimeline {
  std::int32_t number = 0;
  std::int64_t ranks = 0;  // how many pods the gang has
  std::vector<PodTimeline> pods = {};
  std::optional<WallTime> failed_at = {};  // when the root cause was first observed
  bool ended = false;
  std::int64_t steps_made = 0;
  std::int64_t steps_lost = 0;  // of those, known when it has ended
};

// What the pod's time went into: parts that sum to the time from bound to released, or to now. A
// pod that tells of no steps while another of the gang does gets that one's phases for the time it
// does not account for itself.
PerPhase<WideMicros> split(const PodTimeline& pod, const AttemptTimeline& attempt, WallTime now);

// When the whole gang was bound; nothing while it is not.
std::optional<WallTime> gang_bound(const AttemptTimeline& attempt);

// Brings what was known of an attempt up to what is seen now. A pod that is no longer seen was
// released by now; what was reported never becomes less.
void remember(AttemptTimeline& known, const AttemptTimeline& seen, WallTime now);

}  // namespace amdahl::waste
