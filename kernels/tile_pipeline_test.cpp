#include "kernels/tile_pipeline.hpp"

#include "kernels/cast.hpp"
#include "kernels/crc32c.hpp"
#include "kernels/delta.hpp"
#include "kernels/test_ranges.hpp"
#include "kernels/test_rows.hpp"

namespace amdahl::kernels {
namespace {

// Around one tile of 1024 values and around several.
constexpr std::size_t kCounts[] = {0, 1, 100, 1023, 1024, 1025, 2048, 5001};

struct Tensor {
  std::vector<std::byte> fp32;
  std::vector<std::byte> previous;
  std::vector<std::byte> bf16;   // by the scalar row, in one pass
  std::vector<std::byte> delta;  // likewise

  explicit Tensor(std::size_t values)
      : fp32(noise(4 * values, values + 1)),
        previous(noise(2 * values, values + 2)),
        bf16(2 * values),
        delta(2 * values) {
    fp32_to_bf16(bf16, fp32, scalar_row());
    xor_delta(delta, bf16, previous, scalar_row());
  }
};

std::uint32_t sum_of(Bytes bytes) {
  return crc32c(bytes, 0, scalar_row());
}

}  // namespace

KERNEL_TEST_CASE("Tile pipeline with a delta is its four steps") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  for (const std::size_t values : kCounts) {
    const Tensor tensor(values);
    GuardedRange delta(2 * values, Flush::kBack);
    const TileSums sums = snapshot_delta(delta.bytes(), tensor.fp32, tensor.previous, *row);
    INFO("values " << values);
    CHECK(same(delta.bytes(), tensor.delta));
    CHECK(sums.source == sum_of(tensor.fp32));
    CHECK(sums.result == sum_of(tensor.delta));
  }
}

KERNEL_TEST_CASE("Tile pipeline without a delta is its three steps") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  for (const std::size_t values : kCounts) {
    const Tensor tensor(values);
    GuardedRange bf16(2 * values, Flush::kBack);
    const TileSums sums = snapshot_cast(bf16.bytes(), tensor.fp32, *row);
    INFO("values " << values);
    CHECK(same(bf16.bytes(), tensor.bf16));
    CHECK(sums.source == sum_of(tensor.fp32));
    CHECK(sums.result == sum_of(tensor.bf16));
  }
}

KERNEL_TEST_CASE("Tile pipeline restores what it took, also in place") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  for (const std::size_t values : kCounts) {
    Tensor tensor(values);
    std::vector<std::byte> restored(2 * values);
    const TileSums sums = restore_delta(restored, tensor.delta, tensor.previous, *row);
    INFO("values " << values);
    CHECK(restored == tensor.bf16);
    CHECK(sums.source == sum_of(tensor.delta));
    CHECK(sums.result == sum_of(tensor.bf16));
    restore_delta(tensor.previous, tensor.delta, tensor.previous, *row);
    CHECK(tensor.previous == tensor.bf16);
  }
}

TEST_CASE("Tile pipeline of two halves combines to the whole", "[kernels]") {
  const Tensor tensor(40000);
  const auto half = [&](std::size_t first_value, std::size_t values) {
    std::vector<std::byte> delta(2 * values);
    return snapshot_delta(delta, Bytes(tensor.fp32).subspan(4 * first_value, 4 * values),
                          Bytes(tensor.previous).subspan(2 * first_value, 2 * values),
                          scalar_row());
  };
  const TileSums a = half(0, 17001);
  const TileSums b = half(17001, 22999);
  CHECK(crc32c_combine(a.source, b.source, 4 * 22999) == sum_of(tensor.fp32));
  CHECK(crc32c_combine(a.result, b.result, 2 * 22999) == sum_of(tensor.delta));
}

}  // namespace amdahl::kernels
