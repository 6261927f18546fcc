// Every row gives the bits of the scalar row, at any length and alignment.
//
// Input: two bytes with offsets, then the data.
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "kernels/cast.hpp"
#include "kernels/crc32c.hpp"
#include "kernels/delta.hpp"
#include "kernels/shuffle.hpp"

namespace {
using namespace amdahl::kernels;

using Result = std::vector<std::byte>;

// Everything that a row can make of the data, one after the other.
Result all_results(Bytes data, std::size_t offset, const Row& row) {
  Result out;
  const auto keep = [&](std::size_t size, auto&& make) {
    Result part(offset + size);
    make(MutableBytes(part).subspan(offset));
    out.insert(out.end(), part.begin(), part.end());
  };
  const std::size_t quarter = data.size() / 4;
  const Bytes fp32 = data.first(4 * quarter);
  const Bytes half = data.first(2 * quarter);
  std::uint32_t sums[2] = {crc32c(data, 0, row), 0};
  keep(data.size(), [&](MutableBytes to) { sums[1] = copy_crc32c(to, data, sums[0], row); });
  keep(sizeof sums,
       [&](MutableBytes to) { std::ranges::copy(std::as_bytes(std::span(sums)), to.begin()); });
  keep(2 * quarter, [&](MutableBytes to) { fp32_to_bf16(to, fp32, row); });
  keep(4 * quarter, [&](MutableBytes to) { bf16_to_fp32(to, half, row); });
  keep(2 * quarter, [&](MutableBytes to) { cast_delta(to, fp32, half, row); });
  keep(2 * quarter, [&](MutableBytes to) { xor_delta(to, half, data.last(2 * quarter), row); });
  for (const unsigned width : {2U, 4U}) {
    keep(4 * quarter, [&](MutableBytes to) { shuffle(to, fp32, width, row); });
    keep(4 * quarter, [&](MutableBytes to) { unshuffle(to, fp32, width, row); });
  }
  return out;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t offset = data[0] % 64;
  const std::size_t skipped = std::min<std::size_t>(2 + data[1] % 64, size);
  // A copy, so that the address sanitizer sees one byte too far.
  const std::vector<std::uint8_t> input(data + skipped, data + size);
  const Bytes bytes = std::as_bytes(std::span(input));
  const Result expected = all_results(bytes, offset, *available_rows().back());
  for (const Row* row : available_rows())
    AMDAHL_CHECK(all_results(bytes, offset, *row) == expected);
  const std::size_t cut = bytes.size() * data[0] / 256;
  const std::uint32_t combined =
      crc32c_combine(crc32c(bytes.first(cut)), crc32c(bytes.subspan(cut)), bytes.size() - cut);
  AMDAHL_CHECK(combined == crc32c(bytes));
  return 0;
}
