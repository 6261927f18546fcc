// CRC32C: the checksum that object stores take at upload, and that chunks and threads can combine.
#pragma once

#include "kernels/bytes.hpp"
#include "kernels/contract.hpp"
#include "kernels/dispatch.hpp"

namespace amdahl::kernels {

// Of all bytes so far, followed by these: crc32c(b, crc32c(a)) == crc32c(ab). Nothing yet is 0.
inline std::uint32_t crc32c(Bytes bytes, std::uint32_t so_far = 0, const Row& row = active_row()) {
  return row.crc32c(so_far, raw(bytes), bytes.size());
}

// From here on a copy goes around the caches: a line is written without being read first, and what
// the trainer still needs is not evicted. Below, the next reader finds the copy in a cache.
constexpr std::size_t kStreamingBytesMin = 4U << 20;

// Copies and sums in one pass over memory. The ranges have one size and do not overlap.
inline std::uint32_t copy_crc32c(MutableBytes to, Bytes from, std::uint32_t so_far = 0,
                                 const Row& row = active_row()) {
  expect(to.size() == from.size(), "copy_crc32c: ranges of different sizes");
  const auto copy = from.size() >= kStreamingBytesMin ? row.stream_crc32c : row.copy_crc32c;
  return copy(so_far, raw(to), raw(from), from.size());
}

// The sum of ab from those of a and b. Not in the dispatch table: some 40 steps on one word.
std::uint32_t crc32c_combine(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes);

}  // namespace amdahl::kernels
