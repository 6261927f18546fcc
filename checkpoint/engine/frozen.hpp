// Finds tensors that do not change, from the sums of snapshots: what a fine-tune leaves alone.
//
// A tensor counts as frozen when the chunks that are its own had the same sums in three snapshots
// in a row. That is a guess about where to put it, never about its bytes: they are stored by
// content, and compared before they are stored again. Thread: one. Failure: none.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/engine/snapshot_plan.hpp"

namespace amdahl::checkpoint {

inline constexpr std::int64_t kFrozenChunksMin = 4;  // of a tensor that is looked at
inline constexpr int kFrozenSightings = 2;           // comparisons that found it unchanged
inline constexpr std::int64_t kFrozenBytesMin = std::int64_t{16} << 20U;  // worth another plan

class FrozenTensors {
 public:
  // After every snapshot, in order.
  void observe(const std::shared_ptr<const SnapshotPlan>& plan, const std::vector<ChunkSums>& sums);
  // They changed after all, and are not looked at again.
  void thaw(const PlannedObject& object, const SnapshotPlan& plan);
  // Marks those that were found.
  void mark(std::vector<TensorSpec>& specs) const;
  std::uint64_t version() const { return version_; }  // changes with what is marked

 private:
  std::shared_ptr<const SnapshotPlan> plan_;
  std::vector<ChunkSums> sums_;
  std::vector<int> unchanged_;  // comparisons in a row, for each spec of the plan
  std::set<std::string> frozen_;
  std::set<std::string> moving_;
  std::uint64_t version_ = 0;
};

}  // namespace amdahl::checkpoint
