#include "checkpoint/format/shape.hpp"

#include <catch2/catch.hpp>

#include "base/rng.hpp"

namespace amdahl::checkpoint {
namespace {

struct Box {
  Shape offset = {};
  Shape shape = {};
};

Result<void> partition(const Shape& whole, const std::vector<Box>& boxes) {
  std::vector<Shard> shards;
  for (const Box& box : boxes) shards.push_back({.offset = box.offset, .shape = box.shape});
  return check_partition(whole, shards);
}

TEST_CASE("Element counts do not overflow") {
  CHECK(element_count(Shape{}) == 1);
  CHECK(element_count(Shape{2, 3}) == 6);
  CHECK(element_count(Shape{kElementsMax, 0}) == 0);
  CHECK(element_count(Shape{kElementsMax}) == kElementsMax);
  CHECK_FALSE(element_count(Shape{kElementsMax, 2}));
  CHECK_FALSE(element_count(Shape{INT64_MAX, INT64_MAX, 0}));
  CHECK_FALSE(element_count(Shape{-1}));
  CHECK_FALSE(element_count(Shape(kDimensionsMax + 1, 1)));
}

TEST_CASE("A partition holds every element once") {
  CHECK(partition({}, {{}}));
  CHECK(partition({0, 4}, {}));
  CHECK(partition({6}, {{{0}, {4}}, {{4}, {2}}}));
  CHECK(partition({6}, {{{0}, {6}}, {{6}, {0}}}));
  CHECK(partition(
      {4, 4},
      {{{0, 0}, {2, 3}}, {{0, 3}, {3, 1}}, {{2, 0}, {2, 1}}, {{2, 1}, {1, 2}}, {{3, 1}, {1, 3}}}));
  CHECK_FALSE(partition({6}, {}));
  CHECK_FALSE(partition({6}, {{{0}, {5}}}));
  CHECK_FALSE(partition({6}, {{{0}, {4}}, {{3}, {3}}}));
  CHECK_FALSE(partition({6}, {{{0}, {6}}, {{0}, {6}}}));
  // As many elements as the whole, and yet one twice and one not at all.
  CHECK_FALSE(partition({6}, {{{0}, {4}}, {{3}, {2}}}));
  CHECK_FALSE(partition({2, 2}, {{{0, 0}, {1, 2}}, {{0, 0}, {1, 1}}, {{1, 1}, {1, 1}}}));
  const auto far = partition({2, 2, 2, 2}, {{{0, 0, 0, 0}, {1, 1, 1, 1}}});
  REQUIRE_FALSE(far);
  CHECK(far.error().code == Errc::kTooLarge);
}

// Cuts a box at random places; counts how often each cell is covered as the other way to know.
std::vector<Box> cut(Box box, Rng& rng, int times) {
  std::vector<Box> boxes = {std::move(box)};
  for (int i = 0; i < times; ++i) {
    const std::size_t which = rng.below(boxes.size());
    const std::size_t d = rng.below(boxes[which].shape.size());
    if (boxes[which].shape[d] < 2) continue;
    const auto at = static_cast<std::int64_t>(
        1 + rng.below(static_cast<std::uint64_t>(boxes[which].shape[d] - 1)));
    Box upper = boxes[which];
    boxes[which].shape[d] = at;
    upper.offset[d] += at;
    upper.shape[d] -= at;
    boxes.push_back(std::move(upper));
  }
  return boxes;
}

bool covers_once(const Shape& whole, const std::vector<Box>& boxes) {
  std::vector<int> cells(static_cast<std::size_t>(whole[0] * whole[1] * whole[2]));
  for (const Box& box : boxes)
    for (std::int64_t x = 0; x < box.shape[0]; ++x)
      for (std::int64_t y = 0; y < box.shape[1]; ++y)
        for (std::int64_t z = 0; z < box.shape[2]; ++z)
          ++cells[static_cast<std::size_t>(
              ((x + box.offset[0]) * whole[1] + y + box.offset[1]) * whole[2] + z + box.offset[2])];
  return std::ranges::all_of(cells, [](int times) { return times == 1; });
}

TEST_CASE("A partition is what counting cells says it is") {
  Rng rng(7);
  int whole_ones = 0;
  for (int round = 0; round < 400; ++round) {
    const Shape whole = {static_cast<std::int64_t>(1 + rng.below(6)),
                         static_cast<std::int64_t>(1 + rng.below(6)),
                         static_cast<std::int64_t>(1 + rng.below(6))};
    auto boxes = cut({.offset = {0, 0, 0}, .shape = whole}, rng, 8);
    if (rng.chance(0.6)) {  // moved, shrunk or doubled
      Box& box = boxes[rng.below(boxes.size())];
      const std::size_t d = rng.below(3);
      if (box.offset[d] > 0 && rng.chance(0.5))
        --box.offset[d];
      else if (rng.chance(0.5))
        --box.shape[d];
      else
        boxes.push_back(box);
    }
    const bool good = covers_once(whole, boxes);
    whole_ones += good ? 1 : 0;
    INFO("round " << round);
    CHECK(partition(whole, boxes).has_value() == good);
  }
  CHECK(whole_ones > 100);
  CHECK(whole_ones < 300);
}

}  // namespace
}  // namespace amdahl::checkpoint
