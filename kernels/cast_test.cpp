#include "kernels/cast.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/delta.hpp"
#include "kernels/test_ranges.hpp"
#include "kernels/test_rows.hpp"

namespace amdahl::kernels {
namespace {

std::vector<std::byte> as_bytes_of(const std::vector<std::uint32_t>& words) {
  std::vector<std::byte> bytes(4 * words.size());
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

std::uint16_t cast_one(std::uint32_t bits, const Row& row) {
  const std::vector<std::byte> fp32 = as_bytes_of(std::vector<std::uint32_t>(64, bits));
  std::vector<std::byte> bf16(128);
  fp32_to_bf16(bf16, fp32, row);
  std::uint16_t first = 0;
  std::memcpy(&first, bf16.data(), 2);
  for (std::size_t i = 0; i < 64; ++i) REQUIRE(std::memcmp(bf16.data() + 2 * i, &first, 2) == 0);
  return first;
}

float widened(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// Every upper half, with lower halves around each decision that rounding makes.
std::vector<std::uint32_t> patterns() {
  std::vector<std::uint32_t> words;
  for (std::uint32_t high = 0; high < 0x10000; ++high)
    for (const std::uint32_t low : {0x0000U, 0x0001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU})
      words.push_back(high << 16 | low);
  return words;
}

}  // namespace

KERNEL_TEST_CASE("Casts treat special values as written in cast.hpp") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  struct Case {
    std::uint32_t fp32;
    std::uint16_t bf16;
    const char* what;
  };
  for (const Case& c :
       {Case{0x3F800000, 0x3F80, "one"}, Case{0x3F808000, 0x3F80, "a tie goes to even, down"},
        Case{0x3F818000, 0x3F82, "a tie goes to even, up"}, Case{0x3F808001, 0x3F81, "above a tie"},
        Case{0x7F7FFFFF, 0x7F80, "the largest number rounds to infinity"},
        Case{0x7F800000, 0x7F80, "infinity"}, Case{0xFF800000, 0xFF80, "-infinity"},
        Case{0x7F800001, 0x7FC0, "a signalling NaN with a payload below"},
        Case{0xFFBFFFFF, 0xFFFF, "a signalling NaN with all its payload"},
        Case{0x7FFFFFFF, 0x7FFF, "a NaN that rounding would carry to zero"},
        Case{0x80000000, 0x8000, "minus zero"}, Case{0x00000001, 0x0000, "the smallest denormal"},
        Case{0x007FFFFF, 0x0080, "the largest denormal rounds to a normal"},
        Case{0x00400000, 0x0040, "a denormal is kept"}}) {
    INFO(c.what);
    CHECK(cast_one(c.fp32, *row) == c.bf16);
  }
}

KERNEL_TEST_CASE("Cast to bf16 of every kind of number is that of the scalar row") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  const std::vector<std::byte> fp32 = as_bytes_of(patterns());
  std::vector<std::byte> expected(fp32.size() / 2);
  std::vector<std::byte> got(fp32.size() / 2);
  fp32_to_bf16(expected, fp32, scalar_row());
  fp32_to_bf16(got, fp32, *row);
  CHECK(same(got, expected));
}

TEST_CASE("Cast to bf16 picks the nearest number, by arithmetic in double", "[kernels]") {
  const std::vector<std::uint32_t> words = patterns();
  std::vector<std::byte> bf16(2 * words.size());
  fp32_to_bf16(bf16, as_bytes_of(words), scalar_row());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const double value = std::bit_cast<float>(words[i]);
    std::uint16_t got = 0;
    std::memcpy(&got, bf16.data() + 2 * i, 2);
    if (std::isnan(value)) {
      REQUIRE(std::isnan(widened(got)));
      continue;
    }
    REQUIRE(std::signbit(widened(got)) == std::signbit(value));
    if (std::isinf(widened(got)) || std::isinf(value)) continue;
    const double error = std::abs(widened(got) - value);
    for (const int step : {-1, 1}) {  // neighbours in magnitude; none is nearer
      const std::uint16_t neighbour = static_cast<std::uint16_t>(got + step);
      if (((neighbour ^ got) & 0x8000) != 0 || std::isinf(widened(neighbour))) continue;
      const double other = std::abs(widened(neighbour) - value);
      REQUIRE((error < other || (error == other && got % 2 == 0)));
    }
  }
}

KERNEL_TEST_CASE("Casts of every length touch their ranges only") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  const std::vector<std::byte> data = noise(20000, 5);
  for (const std::size_t values : interesting_counts())
    for (const Flush flush : {Flush::kFront, Flush::kBack}) {
      GuardedRange fp32(4 * values, flush);
      GuardedRange bf16(2 * values, flush);
      GuardedRange back(4 * values, flush);
      fp32.fill(Bytes(data).first(4 * values));
      std::vector<std::byte> expected(2 * values);
      fp32_to_bf16(expected, fp32.bytes(), scalar_row());
      fp32_to_bf16(bf16.bytes(), fp32.bytes(), *row);
      INFO("values " << values);
      REQUIRE(same(bf16.bytes(), expected));
      std::vector<std::byte> wide(4 * values);
      bf16_to_fp32(wide, expected, scalar_row());
      bf16_to_fp32(back.bytes(), bf16.bytes(), *row);
      REQUIRE(same(back.bytes(), wide));
    }
}

KERNEL_TEST_CASE("Cast to bf16 gives back every bf16 that is not a signalling NaN") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  std::vector<std::byte> all(2 * 65536);
  for (std::size_t i = 0; i < 65536; ++i) {
    const std::uint16_t bits = static_cast<std::uint16_t>(i);
    std::memcpy(all.data() + 2 * i, &bits, 2);
  }
  std::vector<std::byte> wide(4 * 65536);
  std::vector<std::byte> back(2 * 65536);
  bf16_to_fp32(wide, all, *row);
  fp32_to_bf16(back, wide, *row);
  for (std::size_t i = 0; i < 65536; ++i) {
    std::uint16_t got = 0;
    std::memcpy(&got, back.data() + 2 * i, 2);
    const bool nan = (i & 0x7FFF) > 0x7F80;
    REQUIRE(got == (nan ? (i | 0x40) : i));
  }
}

}  // namespace amdahl::kernels
