// Rules on what the platform says of a pod and its node, before any container is looked at.
#include <algorithm>
#include <array>

#include "operator/training/diagnose/rules.hpp"

namespace amdahl::training::rules {
namespace {

using enum api::CauseClass;
constexpr auto kConfirmed = api::CauseConfidence::kConfirmed;
constexpr auto kSupported = api::CauseConfidence::kSupported;

bool any_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// The platform's words, the most telling ones first.
std::string platform_words(const PodEvidence& pod) {
  std::string words = pod.disruption_reason;
  if (!pod.reason.empty()) words += (words.empty() ? "" : ", ") + pod.reason;
  const std::string& message = pod.message.empty() ? pod.disruption_message : pod.message;
  return told(words, message);
}

Finding disrupted(const PodFacts& facts, api::CauseClass cause_class) {
  Finding finding{.cause_class = cause_class,
                  .confidence = kConfirmed,
                  .message = platform_words(*facts.pod),
                  .at = facts.pod->disrupted_at};
  if (!finding.at && facts.end != nullptr) finding.at = facts.end->finished;
  return finding;
}

std::string stop_words(const PodEvidence& pod) {
  return pod.intent == Intent::kPause ? "stopped for a pause"
                                      : "stopped because the job was cancelled";
}

}  // namespace

// A pod that we stopped is never judged by its exit code: torchrun turns SIGTERM into 1, other
// launchers into 0. What ended before our intent did not end by it.
std::optional<Finding> stopped_by_us(const PodFacts& facts) {
  const PodEvidence& pod = *facts.pod;
  if (pod.intent == Intent::kNone) return std::nullopt;
  if (facts.end == nullptr && !pod.deleting && !pod.gone) return std::nullopt;
  const bool before = facts.end != nullptr && facts.end->finished && pod.intent_at &&
                      *facts.end->finished < *pod.intent_at;
  if (before) return std::nullopt;
  Finding finding{.cause_class = kStoppedOnRequest,
                  .weight = Weight::kTeardown,
                  .confidence = kConfirmed,
                  .message = stop_words(pod),
                  .at = pod.intent_at};
  if (facts.end == nullptr) return finding;
  if (facts.end->reason == "OOMKilled") return std::nullopt;  // saving took too much memory
  if (facts.end->exit_code == 137) {
    finding.cause_class = kDidNotStopInTime;
    finding.message += ", and killed after its grace period";
  }
  return finding;
}

std::optional<Finding> preempted(const PodFacts& facts) {
  const PodEvidence& pod = *facts.pod;
  const bool scheduler =
      any_of(pod.disruption_reason, {"PreemptionByScheduler", "PreemptionByKubeScheduler"});
  const bool kubelet = any_of(pod.reason, {"Preempting", "Preempted"});
  const bool volcano = pod.unready_reason == "Evict";
  if (!scheduler && !kubelet && !volcano) return std::nullopt;
  Finding finding = disrupted(facts, kPreempted);
  if (finding.message.empty()) finding.message = "Volcano evicted the pod";
  return finding;
}

std::optional<Finding> evicted(const PodFacts& facts) {
  if (facts.pod->reason != "Evicted") return std::nullopt;
  Finding finding = disrupted(facts, kEvicted);
  constexpr auto kResources = std::to_array<std::string_view>(
      {"ephemeral-storage", "memory", "inodes", "pids", "nodefs", "imagefs"});
  const auto named = [&](std::string_view resource) {
    return facts.pod->message.find(resource) != std::string::npos;
  };
  const auto* const resource = std::ranges::find_if(kResources, named);
  finding.message =
      told(resource == kResources.end() ? "node pressure" : *resource, facts.pod->message);
  return finding;
}

// The kubelet marks pods of a node that shuts down; TerminationByKubelet without the word Evicted
// is the same from older ones.
std::optional<Finding> node_shut_down(const PodFacts& facts) {
  const PodEvidence& pod = *facts.pod;
  const bool marked = any_of(pod.reason, {"Terminated", "NodeShutdown", "Shutdown"});
  if (!marked && pod.disruption_reason != "TerminationByKubelet") return std::nullopt;
  Finding finding = disrupted(facts, kNodeShutdown);
  if (pod.node_spot) finding.message = "spot machine reclaimed, " + finding.message;
  return finding;
}

std::optional<Finding> drained(const PodFacts& facts) {
  if (facts.pod->disruption_reason != "EvictionByEvictionAPI") return std::nullopt;
  return disrupted(facts, kDrained);
}

std::optional<Finding> node_lost(const PodFacts& facts) {
  const PodEvidence& pod = *facts.pod;
  const bool told_so =
      any_of(pod.disruption_reason, {"DeletionByTaintManager", "DeletionByPodGC"}) ||
      pod.reason == "NodeLost";
  // A container whose end is known ended before its node went.
  if (!told_so && (!pod.node_gone || facts.end != nullptr)) return std::nullopt;
  Finding finding = disrupted(facts, kNodeLost);
  if (!told_so) finding.message = "the node of this pod no longer exists";
  return finding;
}

std::optional<Finding> admission_refused(const PodFacts& facts) {
  const PodEvidence& pod = *facts.pod;
  const bool refused = any_of(pod.reason, {"UnexpectedAdmissionError", "TopologyAffinityError",
                                           "NodeAffinity", "SMTAlignmentError"}) ||
                       pod.reason.starts_with("OutOf");
  if (!refused) return std::nullopt;
  Finding finding = disrupted(facts, kDeviceAllocationFailed);
  if (pod.reason.starts_with("OutOf"))
    finding.hint =
        "The node has less room than its scheduler believed: look for a second scheduler.";
  return finding;
}

// A pod that goes away without our doing, and without a condition that says why: kubectl delete, or
// a controller of somebody else. Its exit code is then the answer to SIGTERM, even when it is 0.
std::optional<Finding> deleted_by_others(const PodFacts& facts) {
  const PodEvidence& pod = *facts.pod;
  if (pod.gone)
    return Finding{.cause_class = kDrained,
                   .confidence = kSupported,
                   .message = "the pod was deleted, and not by this operator"};
  if (!pod.deleting || facts.end == nullptr) return std::nullopt;
  const std::int32_t code = facts.end->exit_code;
  const bool by_signal = code == 0 || code == 130 || code == 137 || code == 143;
  const bool silent = code == 1 && (!facts.text.error || facts.text.has(Mark::kToldToStop));
  if (!by_signal && !silent) return std::nullopt;
  return Finding{.cause_class = kDrained,
                 .confidence = kSupported,
                 .message = "the pod was deleted while it ran, and not by this operator",
                 .at = facts.end->finished};
}

std::optional<Finding> unschedulable(const PodFacts& facts) {
  const PodEvidence& pod = *facts.pod;
  if (pod.bound || pod.scheduled_reason.empty()) return std::nullopt;
  return Finding{.cause_class = kUnschedulable,
                 .weight = Weight::kSuspect,
                 .confidence = kConfirmed,
                 .message = clean_line(pod.scheduled_message, kLineMax),
                 .over = false};
}

// A rank that says nothing while its node says nothing either.
std::optional<Finding> node_not_ready(const PodFacts& facts) {
  if (facts.end != nullptr) return std::nullopt;
  const auto& troubles = facts.pod->node_troubles;
  const auto trouble = std::ranges::find(troubles, "Ready", &NodeTrouble::type);
  if (trouble == troubles.end()) return std::nullopt;
  return Finding{.cause_class = kNodeLost,
                 .weight = Weight::kSuspect,
                 .confidence = kSupported,
                 .message = told("the node is not ready", trouble->message),
                 .at = trouble->since,
                 .over = false};
}

}  // namespace amdahl::training::rules
