#include "kernels/delta.hpp"

#include "kernels/cast.hpp"
#include "kernels/test_ranges.hpp"
#include "kernels/test_rows.hpp"

namespace amdahl::kernels {

KERNEL_TEST_CASE("Xor delta of every length is its own inverse, also in place") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  const std::vector<std::byte> data = noise(10000, 6);
  for (const std::size_t size : interesting_counts())
    for (const Flush flush : {Flush::kFront, Flush::kBack}) {
      GuardedRange one(size, flush);
      GuardedRange other(size, flush);
      GuardedRange delta(size, flush);
      one.fill(Bytes(data).first(size));
      other.fill(Bytes(data).subspan(5000, size));
      xor_delta(delta.bytes(), one.bytes(), other.bytes(), *row);
      INFO("size " << size);
      for (std::size_t i = 0; i < size; ++i)
        REQUIRE(delta.bytes()[i] == (data[i] ^ data[5000 + i]));
      xor_delta(delta.bytes(), delta.bytes(), other.bytes(), *row);
      REQUIRE(same(delta.bytes(), one.bytes()));
      xor_delta(other.bytes(), one.bytes(), other.bytes(), *row);
      xor_delta(other.bytes(), one.bytes(), other.bytes(), *row);
      REQUIRE(same(other.bytes(), Bytes(data).subspan(5000, size)));
    }
}

KERNEL_TEST_CASE("Cast with delta is the cast, then the delta") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  const std::vector<std::byte> data = noise(30000, 7);
  for (const std::size_t values : interesting_counts())
    for (const Flush flush : {Flush::kFront, Flush::kBack}) {
      GuardedRange fp32(4 * values, flush);
      GuardedRange previous(2 * values, flush);
      GuardedRange delta(2 * values, flush);
      fp32.fill(Bytes(data).first(4 * values));
      previous.fill(Bytes(data).subspan(20000, 2 * values));
      std::vector<std::byte> expected(2 * values);
      fp32_to_bf16(expected, fp32.bytes(), scalar_row());
      xor_delta(expected, expected, previous.bytes(), scalar_row());
      cast_delta(delta.bytes(), fp32.bytes(), previous.bytes(), *row);
      INFO("values " << values);
      REQUIRE(same(delta.bytes(), expected));
    }
}

}  // namespace amdahl::kernels
