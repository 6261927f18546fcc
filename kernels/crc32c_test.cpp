#include "kernels/crc32c.hpp"

#include <string_view>

#include "kernels/test_ranges.hpp"
#include "kernels/test_rows.hpp"

namespace amdahl::kernels {
namespace {

Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// One bit at a time, from the definition: a second witness for the scalar row's table.
std::uint32_t bitwise(Bytes bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::byte byte : bytes) {
    crc ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78 : 0);
  }
  return ~crc;
}

}  // namespace

KERNEL_TEST_CASE("Crc32c gives the published values") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  // RFC 3720, appendix B.4, and the check value of the catalogue of CRCs.
  std::vector<std::byte> ascending;
  for (int i = 0; i < 32; ++i) ascending.push_back(static_cast<std::byte>(i));
  CHECK(crc32c(bytes_of("123456789"), 0, *row) == 0xE3069283);
  CHECK(crc32c(std::vector<std::byte>(32, std::byte{0}), 0, *row) == 0x8A9136AA);
  CHECK(crc32c(std::vector<std::byte>(32, std::byte{0xFF}), 0, *row) == 0x62A8AB43);
  CHECK(crc32c(ascending, 0, *row) == 0x46DD794E);
  CHECK(crc32c({}, 0, *row) == 0);
}

KERNEL_TEST_CASE("Crc32c of every length is that of the definition, up to a guard page") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  const std::vector<std::byte> data = noise(5000);
  for (const std::size_t size : interesting_counts())
    for (const Flush flush : {Flush::kFront, Flush::kBack}) {
      GuardedRange range(size, flush);
      range.fill(Bytes(data).first(size));
      INFO("size " << size);
      REQUIRE(crc32c(range.bytes(), 0, *row) == bitwise(Bytes(data).first(size)));
    }
}

// The avx512 row sums by pieces of 7680 bytes, up to 1 MB.
KERNEL_TEST_CASE("Crc32c of larger ranges is that of the definition") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  const std::vector<std::byte> data = noise((1U << 20) + 100, 11);
  for (const std::size_t size : {7679U, 7680U, 7681U, 15359U, 15360U, 15500U, 23040U, 65536U,
                                 (1U << 20) - 1, 1U << 20, (1U << 20) + 1, (1U << 20) + 63}) {
    GuardedRange range(size, Flush::kBack);
    range.fill(Bytes(data).first(size));
    INFO("size " << size);
    REQUIRE(crc32c(range.bytes(), 0x1234, *row) == crc32c(range.bytes(), 0x1234, scalar_row()));
  }
}

KERNEL_TEST_CASE("Crc32c continues at any cut and any alignment") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  const std::vector<std::byte> data = noise(3000);
  const std::uint32_t whole = bitwise(data);
  for (std::size_t cut = 0; cut <= data.size(); cut += 37) {
    INFO("cut " << cut);
    const std::uint32_t head = crc32c(Bytes(data).first(cut), 0, *row);
    REQUIRE(crc32c(Bytes(data).subspan(cut), head, *row) == whole);
  }
  for (std::size_t offset = 0; offset < 64; ++offset)
    REQUIRE(crc32c(Bytes(data).subspan(offset, 1100), 0, *row) ==
            bitwise(Bytes(data).subspan(offset, 1100)));
}

KERNEL_TEST_CASE("Copy with crc32c copies, sums, and touches nothing else") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  const std::vector<std::byte> data = noise(5000, 2);
  for (const std::size_t size : interesting_counts())
    for (const Flush flush : {Flush::kFront, Flush::kBack})
      for (const auto copy : {row->copy_crc32c, row->stream_crc32c}) {
        GuardedRange from(size, flush);
        GuardedRange to(size, flush);
        from.fill(Bytes(data).first(size));
        INFO("size " << size);
        REQUIRE(copy(77, raw(to.bytes()), raw(from.bytes()), size) ==
                crc32c(from.bytes(), 77, scalar_row()));
        REQUIRE(same(to.bytes(), from.bytes()));
      }
}

// Past a size the vector rows store around the caches, to aligned lines only.
KERNEL_TEST_CASE("Copy with crc32c of a large range is exact at any alignment") {
  const Row* row = row_under_test<TestType>();
  if (row == nullptr) return;
  const std::vector<std::byte> data = noise((4U << 20) + 200, 3);
  std::vector<std::byte> to(data.size() + 64);
  for (const std::size_t shift : {0U, 1U, 31U, 63U}) {
    const Bytes from = Bytes(data).subspan(shift, (4U << 20) + 77);
    std::ranges::fill(to, std::byte{0xEE});
    const MutableBytes target = MutableBytes(to).subspan(63 - shift, from.size());
    REQUIRE(copy_crc32c(target, from, 0, *row) == crc32c(from, 0, scalar_row()));
    REQUIRE(same(target, from));
    REQUIRE(std::ranges::all_of(MutableBytes(to).first(63 - shift),
                                [](std::byte b) { return b == std::byte{0xEE}; }));
    REQUIRE(to[63 - shift + from.size()] == std::byte{0xEE});
  }
}

TEST_CASE("Crc32c of two parts combines to that of the whole", "[kernels]") {
  const std::vector<std::byte> data = noise(3000, 4);
  const std::uint32_t whole = bitwise(data);
  for (std::size_t cut = 0; cut <= data.size(); cut += 61) {
    const std::uint32_t head = crc32c(Bytes(data).first(cut), 0, scalar_row());
    const std::uint32_t tail = crc32c(Bytes(data).subspan(cut), 0, scalar_row());
    REQUIRE(crc32c_combine(head, tail, data.size() - cut) == whole);
  }
  CHECK(crc32c_combine(0x12345678, 0, 0) == 0x12345678);
}

TEST_CASE("Crc32c combines over sizes that no memory holds", "[kernels]") {
  // Shifting by a + b zero bytes is shifting by a and then by b.
  const std::uint64_t huge = (1ULL << 62) + 12345;
  const std::uint32_t once = crc32c_combine(0xDEADBEEF, 0, huge);
  CHECK(crc32c_combine(crc32c_combine(0xDEADBEEF, 0, huge / 2), 0, huge - huge / 2) == once);
  CHECK(once != 0xDEADBEEF);
}

}  // namespace amdahl::kernels
