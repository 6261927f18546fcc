#include "kernels/shuffle.hpp"

#include "kernels/test_ranges.hpp"
#include "kernels/test_rows.hpp"

namespace amdahl::kernels {

KERNEL_TEST_CASE("Shuffle puts bytes of one kind together, and unshuffle puts them back") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  const std::vector<std::byte> data = noise(20000, 8);
  for (const unsigned width : {2U, 4U})
    for (const std::size_t count : interesting_counts())
      for (const Flush flush : {Flush::kFront, Flush::kBack}) {
        GuardedRange elements(width * count, flush);
        GuardedRange planes(width * count, flush);
        GuardedRange back(width * count, flush);
        elements.fill(Bytes(data).first(width * count));
        shuffle(planes.bytes(), elements.bytes(), width, *row);
        INFO("width " << width << " count " << count);
        for (std::size_t i = 0; i < width * count; ++i)
          REQUIRE(planes.bytes()[i % width * count + i / width] == data[i]);
        unshuffle(back.bytes(), planes.bytes(), width, *row);
        REQUIRE(same(back.bytes(), elements.bytes()));
      }
}

}  // namespace amdahl::kernels
