#include "kernels/exponent_codec.hpp"

#include <cmath>
#include <cstring>

#include "kernels/cast.hpp"
#include "kernels/test_ranges.hpp"
#include "kernels/test_rows.hpp"

namespace amdahl::kernels {
namespace {

std::vector<std::byte> encoded(Bytes bf16, const Row& row) {
  std::vector<std::byte> to(exponent_codec_bytes_max(bf16.size()));
  to.resize(encode_exponents(to, bf16, row));
  return to;
}

std::vector<std::byte> bf16_of(const std::vector<float>& values) {
  std::vector<std::byte> bf16(2 * values.size());
  fp32_to_bf16(bf16, std::as_bytes(std::span(values)), scalar_row());
  return bf16;
}

// Sums of four uniform numbers: close enough to what trained weights look like.
std::vector<std::byte> weights(std::size_t count, std::uint64_t seed = 1) {
  Noise source(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    double sum = -2;
    for (int i = 0; i < 4; ++i) sum += static_cast<double>(source.next() >> 11) * 0x1p-53;
    value = static_cast<float>(0.02 * sum);
  }
  return bf16_of(values);
}

std::vector<std::byte> every_pattern() {
  std::vector<std::byte> all(2 * 65536);
  for (std::size_t i = 0; i < 65536; ++i) {
    const std::uint16_t bits = static_cast<std::uint16_t>(i);
    std::memcpy(all.data() + 2 * i, &bits, 2);
  }
  return all;
}

std::vector<std::vector<std::byte>> samples() {
  std::vector<std::vector<std::byte>> all;
  all.push_back(every_pattern());
  all.push_back(noise(40000, 9));                              // nothing to win: raw blocks
  all.push_back(weights(20001, 2));                            // the usual case, with a tail
  all.push_back(std::vector<std::byte>(16384, std::byte{0}));  // one plane, no exception
  // What the sample sees is one exponent, and the rest is another: the window was a bad guess.
  std::vector<float> trap(4096, 1e20F);
  for (std::size_t i = 0; i < trap.size(); i += 16) trap[i] = 1;
  all.push_back(bf16_of(trap));
  // Every number of planes.
  for (int spread = 1; spread <= 128; spread *= 2) {
    std::vector<float> values(4096 + 77);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] =
          std::ldexp(1.25F, static_cast<int>(i * 7 % static_cast<std::size_t>(spread)) - 60);
    all.push_back(bf16_of(values));
  }
  return all;
}

}  // namespace

KERNEL_TEST_CASE("Exponent codec gives back every bit, and writes the same bytes on every row") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  for (const std::vector<std::byte>& bf16 : samples()) {
    const std::vector<std::byte> bytes = encoded(bf16, *row);
    REQUIRE(bytes == encoded(bf16, scalar_row()));
    std::vector<std::byte> back(bf16.size());
    REQUIRE(decode_exponents(back, bytes, *row));
    REQUIRE(back == bf16);
  }
}

KERNEL_TEST_CASE("Exponent codec of every length stays inside its ranges") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  const std::vector<std::byte> data = weights(5000, 3);
  for (const std::size_t values : interesting_counts())
    for (const Flush flush : {Flush::kFront, Flush::kBack}) {
      GuardedRange bf16(2 * values, flush);
      GuardedRange room(exponent_codec_bytes_max(2 * values), flush);
      GuardedRange back(2 * values, flush);
      bf16.fill(Bytes(data).first(2 * values));
      const std::size_t size = encode_exponents(room.bytes(), bf16.bytes(), *row);
      GuardedRange exact(size, flush);
      exact.fill(room.bytes().first(size));
      INFO("values " << values);
      REQUIRE(decode_exponents(back.bytes(), exact.bytes(), *row));
      REQUIRE(same(back.bytes(), bf16.bytes()));
    }
}

TEST_CASE("Exponent codec saves what the exponents of weights leave over", "[kernels]") {
  const std::vector<std::byte> bf16 = weights(1 << 16);
  const double ratio =
      static_cast<double>(bf16.size()) / static_cast<double>(encoded(bf16, scalar_row()).size());
  CHECK(ratio > 1.40);
  CHECK(ratio < 16.0 / 11);  // three planes and a byte, before any exception
}

TEST_CASE("Exponent codec never grows a tensor by more than its headers", "[kernels]") {
  for (const std::size_t size : {0U, 2U, 14U, 16U, 34U, 66U, 8190U, 8192U, 8194U, 40000U}) {
    const std::vector<std::byte> bf16 = noise(size, size + 1);
    CHECK(encoded(bf16, scalar_row()).size() <= exponent_codec_bytes_max(size));
  }
}

// The format is in checkpoints: these bytes never change.
TEST_CASE("Exponent codec writes the bytes of its page", "[kernels]") {
  // Exponents 126 and 127, and one of 200, which is no part of a window with base 126.
  std::vector<float> values = {1, 1.5F, -1, 1, 1, -1.5F, 1, 0.5F, -0.5F, std::ldexp(1.0F, 73)};
  values.resize(18, 0.75F);
  const std::vector<std::byte> golden = [] {
    std::vector<std::byte> bytes;
    for (const unsigned byte :
         {0x01U, 0x7EU, 0x02U, 0x00U, 0x01U, 0x00U,                       // header
          0x00U, 0x40U, 0x80U, 0x00U, 0x00U, 0xC0U, 0x00U, 0x00U, 0x80U,  // sign and mantissa
          0x00U, 0x40U, 0x40U, 0x40U, 0x40U, 0x40U, 0x40U, 0x40U, 0x40U,  //
          0x7FU, 0x02U, 0x00U,                                            // plane 0
          0x00U, 0x02U, 0x00U,                                            // plane 1
          0xC8U})                                                         // the exception
      bytes.push_back(static_cast<std::byte>(byte));
    return bytes;
  }();
  CHECK(encoded(bf16_of(values), scalar_row()) == golden);
  std::vector<std::byte> back(2 * values.size());
  CHECK(decode_exponents(back, golden, scalar_row()));
  CHECK(back == bf16_of(values));
}

KERNEL_TEST_CASE("Exponent codec refuses what is cut, longer, or says otherwise") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  const std::vector<std::byte> bf16 = weights(4096 + 100, 4);
  const std::vector<std::byte> good = encoded(bf16, *row);
  std::vector<std::byte> back(bf16.size());
  const auto refused = [&](std::vector<std::byte> bytes) {
    GuardedRange exact(bytes.size(), Flush::kBack);
    exact.fill(bytes);
    return !decode_exponents(back, exact.bytes(), *row);
  };
  for (std::size_t cut = 0; cut < good.size(); cut += 13) {
    INFO("cut " << cut);
    REQUIRE(refused({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(cut)}));
  }
  std::vector<std::byte> longer = good;
  longer.push_back(std::byte{0});
  CHECK(refused(longer));
  const auto changed = [&](std::size_t at, unsigned value) {
    std::vector<std::byte> bytes = good;
    bytes[at] = static_cast<std::byte>(value);
    return bytes;
  };
  CHECK(refused(changed(0, 2)));     // no such kind
  CHECK(refused(changed(0, 0)));     // raw, with the fields of planes
  CHECK(refused(changed(2, 0)));     // no planes
  CHECK(refused(changed(2, 8)));     // too many
  CHECK(refused(changed(3, 1)));     // a byte that is always 0
  CHECK(refused(changed(5, 0xFF)));  // more exceptions than bytes
  // The last block has 100 values: its planes end in four bits that belong to no value.
  const auto field = [&](std::size_t at) { return static_cast<std::size_t>(good[at]); };
  const std::size_t second = 6 + 4096 + 512 * field(2) + field(4) + 256 * field(5);
  const std::size_t plane_end = second + 6 + 100 + 13;
  CHECK(refused(changed(plane_end - 1, 0x10U | static_cast<unsigned>(field(plane_end - 1)))));
  CHECK_FALSE(refused(good));
  CHECK_FALSE(decode_exponents(MutableBytes(back).first(back.size() - 1), good, *row));
  CHECK_FALSE(decode_exponents(MutableBytes(back).first(back.size() - 2), good, *row));
}

KERNEL_TEST_CASE("Exponent codec refuses planes that ask for other exceptions than there are") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  const std::vector<std::byte> bf16 = weights(4096, 5);
  std::vector<std::byte> bytes = encoded(bf16, *row);
  std::vector<std::byte> back(bf16.size());
  // Every code becomes an escape: 4096 are asked for and a hundred are there.
  std::fill_n(bytes.begin() + kExponentHeaderBytes + 4096, 3 * 512, std::byte{0xFF});
  GuardedRange exact(bytes.size(), Flush::kBack);
  exact.fill(bytes);
  CHECK_FALSE(decode_exponents(back, exact.bytes(), *row));
  std::fill_n(bytes.begin() + kExponentHeaderBytes + 4096, 3 * 512, std::byte{0});
  exact.fill(bytes);
  CHECK_FALSE(decode_exponents(back, exact.bytes(), *row));
}

}  // namespace amdahl::kernels
