// How the grace period of a pod is spent, from the moment we are asked to end.
//
// Pure. The trainer has most of it; then everything below it is asked to end, then it is killed,
// and what is left is for the last report and the termination message. What the trainer does not
// use of its time the checkpointer has.
#pragma once

#include <algorithm>
#include <chrono>

namespace amdahl::launch {

struct GracePlan {
  std::chrono::milliseconds terminate_all{0};  // SIGTERM to every process
  std::chrono::milliseconds kill_all{0};       // SIGKILL to every process
  // What does not end is left alone: a process that waits for a dead disk cannot be killed, and
  // the last word is due all the same.
  std::chrono::milliseconds give_up{0};
  std::chrono::milliseconds end{0};  // we are gone
  bool operator==(const GracePlan&) const = default;
};

inline constexpr std::chrono::seconds kGraceDefault{30};  // Kubernetes' own
inline constexpr std::chrono::seconds kGraceMax{24 * 3600};
inline constexpr std::chrono::milliseconds kReportReserveMax{3'000};
inline constexpr std::chrono::milliseconds kKillWindowMax{5'000};

constexpr GracePlan plan_grace(std::chrono::milliseconds grace) {
  // The kubelet kills at `grace`, so we are a moment earlier.
  const auto end = grace - std::min(grace / 20, std::chrono::milliseconds{500});
  const auto reserve = std::min(grace / 8, kReportReserveMax);
  const auto window = std::min(grace / 5, kKillWindowMax);
  return {.terminate_all = end - reserve - window,
          .kill_all = end - reserve,
          .give_up = end - reserve + reserve / 3,
          .end = end};
}

}  // namespace amdahl::launch
