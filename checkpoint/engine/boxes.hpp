// Parts of a tensor in another's memory: which stretches of bytes of one box lie where in another.
//
// Both are row-major, the last dimension varies fastest. Pure; thread any; failure: none, boxes
// have the same number of dimensions and lie in the same whole.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "checkpoint/format/shape.hpp"

namespace amdahl::checkpoint {

struct Stretch {
  std::int64_t from = 0;  // bytes from the start of the first box
  std::int64_t to = 0;    // and of the second
  std::int64_t bytes = 0;
};
// Calls `found` for each stretch that both boxes have, in the order of the first.
void for_each_common(const Shard& from, const Shard& to, std::int64_t element_bytes,
                     const std::function<void(const Stretch&)>& found);

}  // namespace amdahl::checkpoint
