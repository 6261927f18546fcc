// The copy of a rank's tensors: every byte is read once, and the sums of chunks come out of the
// same pass. When it returns the trainer may change its tensors.
//
// Thread: the caller's, and as many more as asked for, which have ended when it returns. Failure:
// none; sizes are the plan's.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "checkpoint/engine/snapshot_plan.hpp"
#include "checkpoint/format/chunks.hpp"
#include "kernels/bytes.hpp"

namespace amdahl::checkpoint {

struct CopyJob {
  const SnapshotPlan& plan;
  std::span<const std::byte* const> tensors = {};  // as many as the plan has specs
  kernels::MutableBytes memory = {};               // up to the end of the last that is copied
  std::vector<bool> sum_only = {};  // for each object: its bytes are not copied; empty: all are
  int threads = 1;
};
// Of every object of the plan, in its order.
std::vector<ChunkSums> copy_tensors(const CopyJob& job);

}  // namespace amdahl::checkpoint
