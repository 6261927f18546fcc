// What a pod's containers do next: order, restarts, deadlines, deletion. Pure.
//
// PodLife is what the kubelet knows of one pod's containers; note_start() and note_end() record
// what happened, decide() says what to do, pod_status() what to tell. Thread: any. Failure: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "local/kubelet/types_pod.hpp"

namespace amdahl::local {

// Kubernetes' own figures: the first restart comes at once, the next after 10 s, then doubled.
inline constexpr std::chrono::seconds kBackoffMin{10};
inline constexpr std::chrono::seconds kBackoffMax{300};
inline constexpr std::chrono::minutes kBackoffReset{10};  // a run this long clears the record
// Pods may write any number of seconds; added to a time it must still be one.
inline constexpr std::chrono::seconds kWaitMax = std::chrono::hours{24 * 365 * 10};

struct ContainerLife {
  ContainerStatus status = {};  // as it is; pod_status() turns waiting for a restart into words
  bool is_init = false;
  bool is_sidecar = false;          // an init container with restartPolicy Always
  bool active = false;              // has a process
  std::chrono::seconds backoff{0};  // between its last end and the next start
};

struct PodLife {
  std::vector<ContainerLife> containers = {};  // init containers first, in the order of the spec
  std::optional<WallTime> started = {};        // when the kubelet took the pod
  std::string address = {};
  std::string reason = {};  // of the whole pod: it has failed and nothing starts any more
  std::string message = {};
  std::optional<WallTime> kill_at = {};  // SIGTERM was sent; what is left then gets SIGKILL
};

struct PodPlan {
  std::vector<std::size_t> start = {};      // indexes into PodLife::containers
  std::vector<std::size_t> terminate = {};  // SIGTERM
  std::optional<WallTime> kill_at = {};     // for what is terminated now or was before
  bool kill = false;                        // SIGKILL to all that are active
  bool over = false;                        // nothing runs and nothing will
  std::string reason = {};                  // the pod fails now
  std::string message = {};
  std::optional<WallTime> wake = {};  // look again then
};

// The state of a pod that this kubelet has not run: from the spec, and from the status that an
// earlier life of the kubelet left behind. What ran then was ended with it.
PodLife adopt(const Pod& pod, WallTime now);

PodPlan decide(const Pod& pod, const PodLife& life, WallTime now);

void note_start(ContainerLife& container, std::string container_id, WallTime now);
void note_end(ContainerLife& container, Terminated end);

bool will_restart(const Pod& pod, const PodLife& life, const ContainerLife& container);
bool inits_done(const PodLife& life);
// The number of the run that would begin now; it names log and message files.
std::int32_t next_run(const ContainerLife& container);
std::chrono::seconds grace_of(const Pod& pod);  // terminationGracePeriodSeconds
// Runs, or has run; what waits for its first start has not.
bool has_run(const ContainerLife& container);

}  // namespace amdahl::local
