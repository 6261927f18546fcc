// The current attempt as the policies look at it: its record, and its pods by rank.
//
// Pure. Lifetime: that of the Observed it was made from. Failure: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "operator/training/observed.hpp"

namespace amdahl::training {

// Longer than this after its grace nobody waits for a pod any more: its node may never answer. What
// keeps it from the next attempt is the attempt's number in its name and rendezvous id.
inline constexpr std::chrono::minutes kStuckTerminatingMax{2};

struct AttemptView {
  std::int32_t number = 0;                     // 0: there was none yet
  std::int32_t desired = 0;                    // pods it has when it is whole
  const api::AttemptStatus* record = nullptr;  // null: not recorded
  std::vector<const PodSeen*> ranks = {};      // by rank; null: not there
  std::vector<const PodSeen*> ours = {};       // of this job, all attempts
  std::vector<const PodSeen*> others = {};     // of an older job of the same name
  std::int32_t created = 0;
  std::int32_t bound = 0;
  std::int32_t running = 0;  // run, or have run
  std::int32_t ready = 0;
  std::int32_t succeeded = 0;

  bool whole() const { return desired > 0 && created == desired; }
  // It goes on: no outcome is recorded.
  bool live() const {
    return record != nullptr && record->outcome == api::AttemptOutcome::kUnknown;
  }
};
AttemptView view_of(const Observed& seen);

// The pod is one that this job made. Anybody in the namespace can create a pod with our labels and
// the job as its controller, but the name of a rank's pod exists once. Ranks beyond the current
// attempt's are refused; how many an earlier attempt had is not recorded.
bool is_made_by_us(const PodSeen& pod, const AttemptView& view, const TrainingJob& job);

// Ended well, and not because somebody told it to end: a pod that is deleted may exit with 0.
bool ended_well(const PodSeen& pod);
// Nothing more will be heard of it: it ended, it never had a node, its deletion was forced, or its
// node is silent for too long.
bool is_over(const PodSeen& pod, WallTime now);
// Of the ranks of the attempt, those that are not there.
std::vector<std::uint32_t> missing_ranks(const AttemptView& view);

// What the rank said last: in its termination message, or else to the report endpoint.
const api::Report* report_of(const Observed& seen, const AttemptView& view, std::uint32_t rank);

// Some rank has made a step of its training.
bool has_stepped(const Observed& seen, const AttemptView& view);
// It has done something worth its GPUs: a step, an evaluation, or a checkpoint other than `saved`,
// which is on record.
bool has_worked(const Observed& seen, const AttemptView& view,
                const std::optional<api::CheckpointStatus>& saved);
bool is_last_committed(const std::optional<api::CheckpointStatus>& saved, std::int64_t step);
bool is_at_work(api::ReportPhase phase);

bool is_finished(const api::TrainingJobStatus& status);  // a terminal condition is True
// The last attempt was ended by a pause, or none was ever begun because of one.
bool is_parked(const api::TrainingJobStatus& status);
// A wish to pause is recorded, and what becomes of it is open.
bool is_pausing(const api::TrainingJobStatus& status);
bool pause_refused(const api::TrainingJobStatus& status);

bool owned_by(const std::vector<kube::OwnerReference>& owners, std::string_view uid);

// What is written into a status: whole seconds, as the API server keeps them.
WallTime stamp(WallTime now);
std::int64_t seconds_between(WallTime from, WallTime to);  // never negative

}  // namespace amdahl::training
