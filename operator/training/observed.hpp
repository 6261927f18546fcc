// What a decision about one TrainingJob rests on: everything that was seen, and nothing else.
//
// Plain values, any thread. observe.cpp fills it from caches, scenarios from text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "operator/api/report.hpp"
#include "operator/training/checkpoint_look.hpp"
#include "operator/training/event_note.hpp"
#include "operator/training/types.hpp"

namespace amdahl::training {

// One pod that a job of this name controls or controlled.
struct PodSeen {
  std::string name = {};
  std::string uid = {};
  std::string owner_uid = {};
  std::uint32_t attempt = 0;
  std::uint32_t rank = 0;
  std::int64_t gpus = 0;
  kube::PodPhase phase = kube::PodPhase::kUnknown;
  std::string node = {};  // empty: not bound
  bool ready = false;
  bool has_finalizer = false;
  std::optional<WallTime> created = {};
  std::optional<WallTime> bound = {};
  std::optional<WallTime> finished = {};
  std::optional<WallTime> deleted = {};  // the end of its grace, as the API server says it
  std::optional<std::int64_t> deletion_grace = {};
  std::optional<api::Report> last_words = {};  // from the termination message, if it is one
  GangPodPtr object = {};                      // the evidence, for the diagnosis
  NodePtr node_object = {};                    // null: not bound, or not known
  bool node_missing = false;                   // bound to a node that the cache does not have
  EventNotesPtr events = {};                   // about the pod; null: none
  EventNotesPtr node_events = {};

  bool ended() const {
    return phase == kube::PodPhase::kSucceeded || phase == kube::PodPhase::kFailed;
  }
  bool deleting() const { return deleted.has_value(); }
};
// What the cache has of a pod; attempt 0 when its labels are not ours.
PodSeen pod_seen(GangPodPtr pod);

// What a rank said last. Times of what this process has seen are told by the wall clock of the
// moment, and count what the monotonic clock has counted since (moment.hpp).
struct RankReport {
  api::Report report = {};
  WallTime received = {};
  WallTime step_changed = {};  // when it made its last step, as far as it or we know
};

enum class CreateRefusalKind : std::uint8_t {
  kInvalid,    // the API server cannot take it as it is, or a policy forbids it: ends the job
  kQuota,      // there is no room for it now
  kNameTaken,  // an object of that name belongs to somebody else
  kDenied,     // anything else: shown, and tried again
};
// What the API server said to a create of this very pass; its own words.
struct CreateRefusal {
  CreateRefusalKind kind = CreateRefusalKind::kDenied;
  std::string words = {};
};

enum class QueueState : std::uint8_t { kUnknown, kOpen, kClosed, kMissing };

struct Observed {
  JobPtr job = {};                 // null: gone
  std::vector<PodSeen> pods = {};  // of all attempts, and of older jobs of the same name
  GroupPtr group = {};             // by name; may belong to somebody else
  ServicePtr service = {};
  bool volcano_served = true;
  QueueState queue = QueueState::kUnknown;  // unknown: queues cannot be read here
  QueuePtr queue_object = {};
  NodesPtr nodes = {};                          // null: not looked at, or not to be read here
  std::vector<RankReport> reports = {};         // of the current attempt
  std::vector<RankReport> reports_before = {};  // of the one before, for its account
  std::optional<CreateRefusal> refusal = {};
  bool can_look = false;                        // somebody can read stores
  bool store_in_pods = false;                   // but not this job's: a folder of its pods
  std::optional<CheckpointLook> look = {};      // of the current attempt, the last that ended
  std::optional<WallTime> status_written = {};  // by this process, last
  std::int64_t epoch = 0;                       // of this leader
  std::optional<WallTime> leading_since = {};
  // Since when the ranks have had time for the open pause; nullopt: as the record says.
  std::optional<WallTime> pause_since = {};
};

// Errors of a create, by what they mean for the job; nullopt: nothing the user should be told.
std::optional<CreateRefusal> refusal_of(const Error& error);

}  // namespace amdahl::training
