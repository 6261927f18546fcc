// Where the tensors of a rank go: into data objects of bounded size, frozen ones into blobs.
//
// It follows from names, types and shapes alone, so it is made once and used for every save of
// the same model. Pure; thread any. Failure: kInvalid, kTooLarge, with the tensor's name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "checkpoint/format/chunks.hpp"
#include "checkpoint/format/header.hpp"
#include "checkpoint/format/receipt.hpp"

namespace amdahl::checkpoint {

struct TensorSpec {
  std::string name = {};
  Dtype dtype = Dtype::kF32;
  Shape shape = {};
  Shape global_shape = {};  // empty: this is all of it
  Shape offset = {};        // with global_shape only
  bool frozen = false;      // does not change: stored once
  bool operator==(const TensorSpec&) const = default;
};

inline constexpr std::int64_t kPartBytesDefault = std::int64_t{256} << 20U;
struct PlanOptions {
  std::int64_t part_bytes = kPartBytesDefault;  // a larger tensor has a part of its own
  std::int64_t chunk_bytes = kChunkBytesDefault;
};

struct PlannedObject {
  bool blob = false;
  Layout layout = {};
  std::vector<std::size_t> tensors = {};  // index in the specs, for each tensor of the layout
  std::int64_t begin = 0;                 // in the memory of a snapshot; aligned
};
struct SnapshotPlan {
  std::vector<TensorSpec> specs = {};
  std::vector<PlannedObject> objects = {};
  std::int64_t chunk_bytes = kChunkBytesDefault;
  std::int64_t memory_bytes = 0;  // that a snapshot needs
  std::int64_t tensor_bytes = 0;
};

Result<std::shared_ptr<const SnapshotPlan>> plan_snapshot(std::vector<TensorSpec> specs,
                                                          const PlanOptions& options);

// Of all tensors of a plan; `object` counts the plan's objects.
std::vector<TensorRecord> tensor_records(const SnapshotPlan& plan);

}  // namespace amdahl::checkpoint
