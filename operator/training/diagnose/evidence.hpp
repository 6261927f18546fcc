// What is known of the pods of one attempt: the input of the diagnosis, as plain values.
//
// Any thread. evidence_of() projects what the API server says of a pod and its node; the caller
// adds what only the operator knows: its own intent, reports, events. No log is read: a container
// leaves its end as the termination message (last words of the launcher, or the kubelet's
// fallback). Everything that a container wrote is hostile: it is cut to the bounds here, and never
// believed over the platform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/fields.hpp"
#include "operator/kube/types_core.hpp"
#include "operator/kube/types_pod.hpp"

namespace amdahl::training {

inline constexpr std::size_t kEvidenceTextMax = std::size_t{64} << 10U;  // bytes of one text
inline constexpr std::size_t kEventsMax = 32;                            // of one pod
inline constexpr std::size_t kContainersMax = 16;                        // of one pod
inline constexpr std::size_t kNodeConditionsMax = 32;                    // of one node

// What we did to the pod ourselves.
enum class Intent : std::uint8_t { kNone, kPause, kCancel };
constexpr auto enum_names(Intent) {
  return std::to_array<EnumName<Intent>>(
      {{Intent::kNone, "none"}, {Intent::kPause, "pause"}, {Intent::kCancel, "cancel"}});
}

struct ContainerEnd {
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  std::string reason = {};
  std::string message = {};  // the termination message: written by the container
  std::optional<WallTime> started = {};
  std::optional<WallTime> finished = {};
};

struct ContainerEvidence {
  std::string name = {};
  bool init = false;
  bool running = false;
  std::string waiting_reason = {};
  std::string waiting_message = {};
  std::optional<ContainerEnd> ended = {};         // state.terminated
  std::optional<ContainerEnd> ended_before = {};  // lastState.terminated: the end before a restart
};

// Something that is wrong with a node. Conditions that are as they should be are left out.
struct NodeTrouble {
  std::string type = {};
  std::string reason = {};
  std::string message = {};
  std::optional<WallTime> since = {};
};

struct EventEvidence {  // of the pod or of its node
  std::string reason = {};
  std::string message = {};
  std::optional<WallTime> at = {};
};

struct ReportEvidence {  // the last one; hostile
  std::optional<std::int64_t> step = {};
  std::string phase = {};
  std::string error = {};  // the first error, as Python would print it
  // When it made its last step, by our clock; nothing: it counts none, or evaluates or saves.
  std::optional<WallTime> changed = {};
  std::optional<std::int64_t> memory_peak = {};  // bytes of the container
  // From the last words of a launcher that has ended: in the units of this rank.
  std::optional<std::int64_t> last_step = {};
  std::optional<std::int64_t> total_steps = {};
  bool pause_asked = false;
};

struct PodEvidence {
  std::int32_t rank = 0;  // of the node
  std::string pod = {};
  std::string node = {};
  Intent intent = Intent::kNone;
  std::optional<WallTime> intent_at = {};
  bool gone = false;  // the object is no longer there, and we did not delete it
  bool deleting = false;
  kube::PodPhase phase = kube::PodPhase::kUnknown;
  std::string reason = {};  // status.reason
  std::string message = {};
  std::string disruption_reason = {};  // condition DisruptionTarget
  std::string disruption_message = {};
  std::optional<WallTime> disrupted_at = {};
  bool bound = false;
  std::optional<WallTime> bound_at = {};
  std::string scheduled_reason = {};  // condition PodScheduled, while it is False
  std::string scheduled_message = {};
  std::string unready_reason = {};  // condition Ready, while it is False; Volcano writes Evict
  std::vector<ContainerEvidence> containers = {};  // the trainer first
  bool node_gone = false;
  bool node_spot = false;
  std::vector<NodeTrouble> node_troubles = {};
  std::vector<EventEvidence> events = {};
  ReportEvidence report = {};
  std::string memory_limit = {};  // of the trainer, as the template has it; empty: none
};

// A step may take long; no step for so many usual ones is a hang.
inline constexpr double kHangSteps = 30;

// No rank has made a step for this long, which is too long; breakage.cpp decides that.
struct Standstill {
  std::int64_t seconds = 0;
  std::optional<double> step_seconds = {};         // the usual time of a step
  std::optional<std::int64_t> quiet_seconds = {};  // no rank printed anything for so long
};

struct AttemptEvidence {
  std::vector<PodEvidence> pods = {};
  std::int32_t ranks = 0;  // how many pods the attempt has
  WallTime now = {};
  bool stepped = false;  // a step was reported in this attempt
  std::optional<Standstill> standstill = {};
  // What was seen before the failure: processes of some ranks had ended, and those of others had
  // not. Empty: nothing of the kind.
  std::string left_early = {};
};

// The node may be null: none bound, or not in the cache. A pod that is bound to a node which no
// longer exists is for the caller to mark (node_gone): an unsynced cache looks the same.
PodEvidence evidence_of(const kube::Pod& pod, const kube::Node* node);

// What the node has to say: spot, conditions that are not as they should be.
void add_node(PodEvidence& evidence, const kube::Node& node);

// The end of a text, or its beginning, within kEvidenceTextMax.
std::string_view bounded_tail(std::string_view text);
std::string_view bounded_head(std::string_view text);

}  // namespace amdahl::training
