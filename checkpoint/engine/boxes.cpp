#include "checkpoint/engine/boxes.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"

namespace amdahl::checkpoint {
namespace {

using Numbers = std::array<std::int64_t, kDimensionsMax>;

// Bytes between neighbours along each dimension.
Numbers strides_of(std::span<const std::int64_t> shape, std::int64_t element_bytes) {
  Numbers strides{};
  std::int64_t step = element_bytes;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

}  // namespace

void for_each_common(const Shard& from, const Shard& to, std::int64_t element_bytes,
                     const std::function<void(const Stretch&)>& found) {
  const std::size_t dimensions = from.shape.size();
  AMDAHL_CHECK(dimensions == to.shape.size() && dimensions <= kDimensionsMax);
  const Numbers from_strides = strides_of(from.shape, element_bytes);
  const Numbers to_strides = strides_of(to.shape, element_bytes);
  Numbers count{};
  Stretch at{.bytes = element_bytes};
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::int64_t begin = std::max(from.offset[d], to.offset[d]);
    count[d] = std::min(from.offset[d] + from.shape[d], to.offset[d] + to.shape[d]) - begin;
    if (count[d] <= 0) return;
    at.from += (begin - from.offset[d]) * from_strides[d];
    at.to += (begin - to.offset[d]) * to_strides[d];
  }
  // Trailing dimensions that both have whole make one stretch, and so does the one before them.
  std::size_t outer = dimensions;
  while (outer > 0) {
    --outer;
    at.bytes *= count[outer];
    if (count[outer] != from.shape[outer] || count[outer] != to.shape[outer]) break;
  }
  Numbers index{};
  for (;;) {
    found(at);
    std::size_t d = outer;
    for (; d > 0; --d) {
      at.from += from_strides[d - 1];
      at.to += to_strides[d - 1];
      if (++index[d - 1] < count[d - 1]) break;
      at.from -= index[d - 1] * from_strides[d - 1];
      at.to -= index[d - 1] * to_strides[d - 1];
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

}  // namespace amdahl::checkpoint
