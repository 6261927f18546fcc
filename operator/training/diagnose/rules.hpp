// The decision table of the diagnosis: what one pod's evidence says, first rule that applies.
//
// Pure; internal to this folder. A rule is a function from facts to a finding or nothing; the table
// in rules.cpp has their order, which is the order in which evidence counts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "operator/training/diagnose/diagnose.hpp"
#include "operator/training/diagnose/evidence.hpp"
#include "operator/training/diagnose/failure_text.hpp"

namespace amdahl::training {

// The kubelet tries an image at once and after 10 and 20 more seconds; then it is not a hiccup.
inline constexpr std::chrono::seconds kImageTries{60};
// How long a bound gang may wait for something that somebody has to put right. Then it is
// restarted, which gives its GPUs back while it waits.
inline constexpr std::chrono::seconds kHoldGpus{300};

// What a finding may be in the picture of all ranks.
enum class Weight : std::uint8_t {
  kTeardown,    // how we stopped it
  kSuspect,     // has not ended, and may be why others did
  kVictim,      // ended because of another rank
  kInitiating,  // may have started it
};

struct Finding {
  api::CauseClass cause_class = api::CauseClass::kUnknown;
  Weight weight = Weight::kInitiating;
  api::CauseConfidence confidence = api::CauseConfidence::kSupported;
  // What makes it the same cause in two attempts, then ": " and the evidence in words. Or only
  // words, where the class alone says it (recurrence.hpp).
  std::string message = {};
  std::string hint = {};              // instead of the table's
  std::optional<Advice> advice = {};  // instead of the table's
  std::optional<WallTime> at = {};
  bool over = true;      // the pod will not go on by itself
  bool claimed = false;  // only the workload says so: then it pays from its failure budget
  std::size_t rule = 0;  // its place in the table
};

struct PodFacts {
  const AttemptEvidence* attempt = nullptr;
  const PodEvidence* pod = nullptr;
  const ContainerEvidence* container = nullptr;  // whose end it is
  const ContainerEnd* end = nullptr;             // null: nothing has ended
  FailureText text = {};                         // only of a pod that failed

  bool failed() const {
    return (end != nullptr && end->exit_code != 0) || pod->phase == kube::PodPhase::kFailed;
  }
  bool exited(std::int32_t code) const { return end != nullptr && end->exit_code == code; }
};
PodFacts facts_of(const AttemptEvidence& attempt, const PodEvidence& pod);

// Nothing: the pod runs, or ended well.
std::optional<Finding> examine(const PodFacts& facts);
// Whether the trainer exited with 0, and nobody had a hand in it.
bool succeeded(const PodEvidence& pod);

// "artifact: words". The artifact loses what would end it early.
std::string told(std::string_view artifact, std::string_view words);

// The rules, by the kind of evidence they read.
namespace rules {
using Rule = std::optional<Finding> (*)(const PodFacts&);
std::optional<Finding> stopped_by_us(const PodFacts& facts);
std::optional<Finding> preempted(const PodFacts& facts);
std::optional<Finding> evicted(const PodFacts& facts);
std::optional<Finding> node_shut_down(const PodFacts& facts);
std::optional<Finding> drained(const PodFacts& facts);
std::optional<Finding> node_lost(const PodFacts& facts);
std::optional<Finding> admission_refused(const PodFacts& facts);
std::optional<Finding> image_not_pulled(const PodFacts& facts);
std::optional<Finding> configuration_missing(const PodFacts& facts);
std::optional<Finding> container_out_of_memory(const PodFacts& facts);
std::optional<Finding> command_not_found(const PodFacts& facts);
std::optional<Finding> container_lost(const PodFacts& facts);
std::optional<Finding> deleted_by_others(const PodFacts& facts);
std::optional<Finding> gpu_fault_on_node(const PodFacts& facts);
std::optional<Finding> node_out_of_memory(const PodFacts& facts);
std::optional<Finding> killed(const PodFacts& facts);
std::optional<Finding> told_to_stop(const PodFacts& facts);
std::optional<Finding> agreed_exit_code(const PodFacts& facts);
std::optional<Finding> gpu_fault_in_text(const PodFacts& facts);
std::optional<Finding> collective_timeout(const PodFacts& facts);
std::optional<Finding> native_crash(const PodFacts& facts);
std::optional<Finding> gpu_out_of_memory(const PodFacts& facts);
std::optional<Finding> worker_killed(const PodFacts& facts);
std::optional<Finding> diverged(const PodFacts& facts);
std::optional<Finding> rendezvous_timeout(const PodFacts& facts);
std::optional<Finding> peer_lost(const PodFacts& facts);
std::optional<Finding> user_exception(const PodFacts& facts);
std::optional<Finding> ended_without_a_word(const PodFacts& facts);
std::optional<Finding> unschedulable(const PodFacts& facts);
std::optional<Finding> node_not_ready(const PodFacts& facts);
}  // namespace rules

}  // namespace amdahl::training
