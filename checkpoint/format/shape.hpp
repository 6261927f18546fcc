// Shapes of tensors and of shards, with products that cannot overflow.
//
// Plain values; thread any. Failure: nothing instead of a number that would not fit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kDimensionsMax = 16;
// Dimensions along which one tensor is cut. Meshes cut along two; three leaves room.
inline constexpr std::size_t kShardedDimensionsMax = 3;
inline constexpr std::int64_t kElementsMax = std::int64_t{1} << 50;

using Shape = std::vector<std::int64_t>;

// Nothing for a negative dimension, too many dimensions, or too many elements.
std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape);

// A part of a tensor: `shape` elements from `offset` on. All three have as many dimensions.
struct Shard {
  std::span<const std::int64_t> offset = {};
  std::span<const std::int64_t> shape = {};
};

// Whether the shards hold every element of a tensor of shape `whole` exactly once. Each lies
// inside of it; one without elements is ignored. Failure: kInvalid, kTooLarge.
Result<void> check_partition(std::span<const std::int64_t> whole, std::span<const Shard> shards);

}  // namespace amdahl::checkpoint
