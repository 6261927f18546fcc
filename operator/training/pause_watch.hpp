// Since when the ranks of one job have had time for its open pause, by the clock of this process.
//
// The record has a wall time, and a wall clock that is set would end the pause at once or not for
// an hour. A process that saw the pause begin counts its time itself; to one that came later the
// record says how much had passed. Pure. Thread: one.
#pragma once

#include <cstdint>
#include <optional>

#include "operator/api/training_job.hpp"
#include "operator/training/moment.hpp"

namespace amdahl::training {

class PauseWatch {
 public:
  // To be called with every status that was read or written.
  void see(const api::TrainingJobStatus& status, Moment now);
  // nullopt: no pause is open.
  std::optional<Monotonic> since() const { return since_; }

 private:
  std::optional<WallTime> requested_at_ = {};
  std::int64_t generation_ = 0;
  std::optional<Monotonic> since_ = {};
};

}  // namespace amdahl::training
