// Who reads the records of checkpoints: the seam between the controller and the stores.
//
// Thread: one. Lifetime: outlives its tasks. Failure: what keeps the store from being read, in
// words for people; damage is no failure but a finding. kTimeout at the deadline.
#pragma once

#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/training/checkpoint_look.hpp"

namespace amdahl::training {

class CheckpointReader {
 public:
  CheckpointReader() = default;
  CheckpointReader(const CheckpointReader&) = delete;
  CheckpointReader& operator=(const CheckpointReader&) = delete;
  virtual ~CheckpointReader() = default;

  virtual Task<Result<CheckpointFinding>> read(CheckpointAsk ask, Monotonic deadline) = 0;
  // False: the place cannot be read from here, so retrying is pointless.
  virtual bool reads(std::string_view /*uri*/) const { return true; }
};

}  // namespace amdahl::training
