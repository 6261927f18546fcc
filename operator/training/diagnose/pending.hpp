// Why a gang does not start, with the arithmetic: what is asked for, what there is, what is
// missing, and what to do.
//
// Pure and total. The first reason that holds is told, in the order in which somebody has to act:
// what was refused, the queue, what a bound pod waits for, the PodGroup, room on nodes, and last
// the scheduler's own words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/training_job_status.hpp"
#include "operator/kube/quantity.hpp"
#include "operator/training/diagnose/evidence.hpp"

namespace amdahl::training {

using Quantities = std::map<std::string, kube::Quantity>;

// Values of PendingStatus::reason.
namespace pending {
inline constexpr std::string_view kPodsRefused = "PodsRefused";
inline constexpr std::string_view kQuotaExceeded = "QuotaExceeded";
inline constexpr std::string_view kQueueMissing = "QueueMissing";
inline constexpr std::string_view kQueueClosed = "QueueClosed";
inline constexpr std::string_view kQueueTooSmall = "QueueTooSmall";  // never, as things are
inline constexpr std::string_view kQueueFull = "QueueFull";          // not now
inline constexpr std::string_view kHeldByEnqueue = "HeldByEnqueue";
inline constexpr std::string_view kTooLarge = "TooLarge";    // never, as the cluster is
inline constexpr std::string_view kGangShort = "GangShort";  // not now
inline constexpr std::string_view kUnschedulable = "Unschedulable";
inline constexpr std::string_view kImage = "WaitingForImage";
inline constexpr std::string_view kConfiguration = "WaitingForConfiguration";
inline constexpr std::string_view kPodsMissing = "PodsMissing";  // not all exist yet
inline constexpr std::string_view kStarting = "Starting";        // all bound, not all running
inline constexpr std::string_view kWaiting = "WaitingForScheduler";
}  // namespace pending

struct QueueEvidence {
  bool exists = false;
  bool open = true;
  std::string state = {};      // Volcano's word: Open, Closed, Closing, Unknown
  Quantities capability = {};  // a resource that is not named has no limit
  Quantities allocated = {};
};

struct PodGroupEvidence {
  bool inqueue = false;  // past the enqueue action: Inqueue, Running or Completed
  Quantities resources_min = {};
  std::string reason = {};  // of condition Unschedulable, while it is True
  std::string message = {};
};

struct NodeRoom {
  std::string name = {};
  bool schedulable = true;  // ready, not cordoned, taints tolerated
  Quantities free = {};     // allocatable without what pods hold
  bool suitable = true;     // selector and taints let the pods in, whatever its state is now
  Quantities whole = {};    // allocatable; empty: not known
};

struct Refusal {             // of a create of a pod
  std::string message = {};  // the API server's words
  bool quota = false;        // 403 with "exceeded quota"
};

struct PendingEvidence {
  std::int32_t ranks = 0;
  Quantities per_pod = {};  // requests
  std::optional<Refusal> refusal = {};
  std::string queue_name = {};              // empty: no queue takes part
  std::optional<QueueEvidence> queue = {};  // nothing: not known yet
  std::optional<PodGroupEvidence> group = {};
  std::vector<NodeRoom> nodes = {};    // empty: not known
  std::vector<PodEvidence> pods = {};  // those that exist
};

api::PendingStatus explain_pending(const PendingEvidence& evidence);

}  // namespace amdahl::training
