#include "checkpoint/format/shape.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/check.hpp"

namespace amdahl::checkpoint {
namespace {

using Corner = std::array<std::int64_t, kShardedDimensionsMax>;
struct SignedCorner {
  Corner at = {};
  std::int64_t sign = 0;
};

// The dimensions in which some shard is smaller than the whole.
std::vector<std::size_t> cut_dimensions(std::span<const std::int64_t> whole,
                                        std::span<const Shard> shards) {
  std::vector<std::size_t> cut;
  for (std::size_t d = 0; d < whole.size(); ++d)
    if (std::ranges::any_of(shards, [&](const Shard& s) { return s.shape[d] != whole[d]; }))
      cut.push_back(d);
  return cut;
}

void add_corners(const Shard& box, std::span<const std::size_t> dimensions, std::int64_t weight,
                 std::vector<SignedCorner>& corners) {
  for (std::size_t bits = 0; bits < std::size_t{1} << dimensions.size(); ++bits) {
    SignedCorner corner{.sign = weight};
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      const bool upper = ((bits >> i) & 1U) != 0;
      const std::size_t d = dimensions[i];
      corner.at.at(i) = box.offset[d] + (upper ? box.shape[d] : 0);
      if (upper) corner.sign = -corner.sign;
    }
    corners.push_back(corner);
  }
}

bool cancel_out(std::vector<SignedCorner>& corners) {
  std::ranges::sort(corners, {}, &SignedCorner::at);
  for (std::size_t i = 0; i < corners.size();) {
    std::int64_t sum = 0;
    const Corner at = corners[i].at;
    for (; i < corners.size() && corners[i].at == at; ++i) sum += corners[i].sign;
    if (sum != 0) return false;
  }
  return true;
}

}  // namespace

std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  if (shape.size() > kDimensionsMax) return std::nullopt;
  if (std::ranges::any_of(shape, [](std::int64_t n) { return n < 0 || n > kElementsMax; }))
    return std::nullopt;
  if (std::ranges::count(shape, 0) > 0) return 0;
  std::int64_t count = 1;
  for (const std::int64_t n : shape) {
    if (count > kElementsMax / n) return std::nullopt;
    count *= n;
  }
  return count;
}

// A box is a sum of quadrants at its corners with alternating signs, and quadrants at different
// points are independent. So shards cover every element once exactly when their signed corners are
// those of the whole. This takes n log n steps, where comparing pairs would take n squared.
Result<void> check_partition(std::span<const std::int64_t> whole, std::span<const Shard> shards) {
  const auto count = element_count(whole);
  AMDAHL_CHECK(count.has_value());
  if (*count == 0) return {};
  std::vector<Shard> boxes;
  std::ranges::copy_if(shards, std::back_inserter(boxes),
                       [](const Shard& shard) { return element_count(shard.shape) != 0; });
  const std::vector<std::size_t> dimensions = cut_dimensions(whole, boxes);
  if (dimensions.size() > kShardedDimensionsMax)
    return fail(Errc::kTooLarge, "cut along {} dimensions, at most {}", dimensions.size(),
                kShardedDimensionsMax);
  const Shape origin(whole.size(), 0);
  std::vector<SignedCorner> corners;
  corners.reserve((boxes.size() + 1) << dimensions.size());
  for (const Shard& box : boxes) add_corners(box, dimensions, 1, corners);
  add_corners({.offset = origin, .shape = whole}, dimensions, -1, corners);
  if (cancel_out(corners)) return {};
  std::int64_t held = 0;
  for (const Shard& box : boxes)
    if (held <= *count) held += element_count(box.shape).value_or(0);  // else it might overflow
  return fail(Errc::kInvalid, "its {} shards {} the {} elements of the whole", shards.size(),
              held < *count ? "do not hold all of" : "overlap within", *count);
}

}  // namespace amdahl::checkpoint
