#include "checkpoint/engine/frozen.hpp"

#include <algorithm>

namespace amdahl::checkpoint {
namespace {

// Whether the chunks between the tensor's edges are the same, and there are enough of them.
bool unchanged(const HeaderTensor& tensor, const ChunkSums& before, const ChunkSums& now) {
  const std::int64_t first = (tensor.begin + now.chunk_bytes - 1) / now.chunk_bytes;
  const std::int64_t end = tensor.end / now.chunk_bytes;
  if (end - first < kFrozenChunksMin) return false;
  return std::equal(now.crc32c.begin() + first, now.crc32c.begin() + end,
                    before.crc32c.begin() + first);
}

}  // namespace

void FrozenTensors::observe(const std::shared_ptr<const SnapshotPlan>& plan,
                            const std::vector<ChunkSums>& sums) {
  if (plan != plan_) {
    plan_ = plan;
    unchanged_.assign(plan->specs.size(), 0);
    sums_ = sums;
    return;
  }
  std::set<std::string> found;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < plan->objects.size(); ++i) {
    const PlannedObject& object = plan->objects[i];
    for (std::size_t t = 0; !object.blob && t < object.tensors.size(); ++t) {
      const HeaderTensor& tensor = object.layout.header.tensors[t];
      int& count = unchanged_[object.tensors[t]];
      count = unchanged(tensor, sums_[i], sums[i]) ? count + 1 : 0;
      if (count < kFrozenSightings || moving_.contains(tensor.name)) continue;
      found.insert(tensor.name);
      bytes += tensor.end - tensor.begin;
    }
  }
  sums_ = sums;
  if (bytes < kFrozenBytesMin) return;
  frozen_.merge(found);
  ++version_;
}

void FrozenTensors::thaw(const PlannedObject& object, const SnapshotPlan& plan) {
  for (const std::size_t tensor : object.tensors)
    if (frozen_.erase(plan.specs[tensor].name) > 0) {
      moving_.insert(plan.specs[tensor].name);
      ++version_;
    }
}

void FrozenTensors::mark(std::vector<TensorSpec>& specs) const {
  if (frozen_.empty()) return;
  for (TensorSpec& spec : specs) spec.frozen = spec.frozen || frozen_.contains(spec.name);
}

}  // namespace amdahl::checkpoint
