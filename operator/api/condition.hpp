// metav1.Condition as our kinds carry it, and the names and reasons that TrainingJob uses.
//
// Plain values, any thread. Its members are those of kube::Condition, so that the functions of
// operator/controller/conditions.hpp take either; the bounds are tighter (a status stays small).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/fields.hpp"
#include "operator/api/bounds.hpp"

namespace amdahl::api {

enum class ConditionStatus : std::uint8_t { kUnknown, kTrue, kFalse };
constexpr auto enum_names(ConditionStatus) {
  return std::to_array<EnumName<ConditionStatus>>({{ConditionStatus::kUnknown, "Unknown"},
                                                   {ConditionStatus::kTrue, "True"},
                                                   {ConditionStatus::kFalse, "False"}});
}

struct Condition {
  std::string type = {};
  ConditionStatus status = ConditionStatus::kUnknown;
  std::int64_t observed_generation = 0;
  std::optional<WallTime> changed = {};  // lastTransitionTime
  std::string reason = {};
  std::string message = {};
  bool operator==(const Condition&) const = default;
};
template <class V>
constexpr void fields(V& v, Condition& condition) {
  v.required("type", condition.type,
             {.doc = "What the condition is about.",
              .length_min = 1,
              .length_max = kLabelMax,
              .pattern = "^[A-Z][A-Za-z0-9]*$"});
  v.required("status", condition.status, {.doc = "Whether it holds: True, False or Unknown."});
  v.optional("observedGeneration", condition.observed_generation,
             {.doc = "The generation of the spec that it was derived from.",
              .min = 0,
              .max = kIntegerMax});
  v.required("lastTransitionTime", condition.changed, {.doc = "When the status last changed."});
  v.required("reason", condition.reason,
             {.doc = "Why, in one CamelCase word.",
              .length_min = 1,
              .length_max = kReasonMax,
              .pattern = "^[A-Z][A-Za-z0-9]*$"});
  v.optional("message", condition.message,
             {.doc = "Why, in words for people.", .length_max = kMessageMax});
}

// Null when there is none.
const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type);
bool is_true(const std::vector<Condition>& conditions, std::string_view type);

// The conditions of a TrainingJob, and when each is True.
namespace condition {
inline constexpr std::string_view kAdmitted = "Admitted";    // the whole gang is bound to nodes
inline constexpr std::string_view kRunning = "Running";      // every rank of the attempt started
inline constexpr std::string_view kSuspended = "Suspended";  // nothing of it is left, and recorded
inline constexpr std::string_view kCheckpointReady = "CheckpointReady";  // committed and verified
inline constexpr std::string_view kSucceeded = "Succeeded";  // terminal, as the next two
inline constexpr std::string_view kFailed = "Failed";
inline constexpr std::string_view kCancelled = "Cancelled";
}  // namespace condition

// Reasons, by condition. phase.hpp reads those that are marked.
namespace reason {
// Admitted
inline constexpr std::string_view kNotCreated = "NotCreated";
inline constexpr std::string_view kQueued = "Queued";  // read: the gang waits for its nodes
inline constexpr std::string_view kBound = "Bound";
inline constexpr std::string_view kPodsRefused = "PodsRefused";  // the API server's own words
inline constexpr std::string_view kNameTaken = "NameTaken";      // a child's name is somebody's
// Running
inline constexpr std::string_view kAllRanksStarted = "AllRanksStarted";
inline constexpr std::string_view kWaitingForRanks = "WaitingForRanks";
inline constexpr std::string_view kRestarting = "Restarting";  // read: between two attempts
inline constexpr std::string_view kNotRunning = "NotRunning";
// Suspended
inline constexpr std::string_view kPaused = "Paused";
inline constexpr std::string_view kPausing = "Pausing";  // read: asked for and not yet done
inline constexpr std::string_view kNotSuspended = "NotSuspended";
inline constexpr std::string_view kPauseRefused = "PauseRefused";  // Committed: it runs on
// CheckpointReady
inline constexpr std::string_view kVerified = "Verified";
inline constexpr std::string_view kNoCheckpoint = "NoCheckpoint";
inline constexpr std::string_view kNotConfigured = "NotConfigured";  // no checkpoint.uri
inline constexpr std::string_view kNotVerified = "NotVerified";      // nobody could read it back
inline constexpr std::string_view kTaken = "Taken";                  // the prefix is another job's
inline constexpr std::string_view kDamaged = "Damaged";  // none is sound: the job does not start
// Succeeded, Cancelled
inline constexpr std::string_view kCompleted = "Completed";
inline constexpr std::string_view kCancelRequested = "CancelRequested";
inline constexpr std::string_view kNotFinished = "NotFinished";
// Failed
inline constexpr std::string_view kFailureBudgetSpent = "FailureBudgetSpent";
inline constexpr std::string_view kDisruptionBudgetSpent = "DisruptionBudgetSpent";
inline constexpr std::string_view kCannotRecover = "CannotRecover";  // trying again is pointless
inline constexpr std::string_view kQueueDeadline = "QueueDeadlineExceeded";
inline constexpr std::string_view kStartDeadline = "StartDeadlineExceeded";
inline constexpr std::string_view kActiveDeadline = "ActiveDeadlineExceeded";
inline constexpr std::string_view kInvalidSpec = "InvalidSpec";
}  // namespace reason

}  // namespace amdahl::api
