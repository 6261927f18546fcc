// CRC32C by folding lanes of 16 bytes, eight at a time; the crc32 instruction takes what remains.
#include <immintrin.h>
#include <string.h>

#include "kernels/avx2/kernels.hpp"
#include "kernels/crc32c_folding.hpp"

namespace amdahl::kernels::avx2 {
namespace {

constexpr size_t kLane = 16;
constexpr size_t kLanes = 8;
constexpr size_t kStride = kLane * kLanes;

enum class Also { kNothing, kStore, kStream };  // what happens to the bytes besides the sum

template <Also also>
__m128i take(const uint8_t* from, uint8_t* to, size_t at) {
  const __m128i lane = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
  if constexpr (also == Also::kStore) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at), lane);
  if constexpr (also == Also::kStream) _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), lane);
  return lane;
}

__m128i fold(__m128i far, __m128i by, __m128i near) {
  const __m128i lower = _mm_clmulepi64_si128(far, by, 0x00);
  const __m128i upper = _mm_clmulepi64_si128(far, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(lower, upper), near);
}

// `size` is a multiple of kLane and not 0. Takes and returns the sum without its two inversions.
template <Also also>
uint32_t sum_lanes(uint32_t crc, const uint8_t* from, uint8_t* to, size_t size) {
  const __m128i by_lane = _mm_set_epi64x(fold_upper(kLane), fold_lower(kLane));
  __m128i first = take<also>(from, to, 0);
  first = _mm_xor_si128(first, _mm_cvtsi32_si128(static_cast<int>(crc)));
  size_t at = kLane;
  if (size >= 2 * kStride) {
    const __m128i by_stride = _mm_set_epi64x(fold_upper(kStride), fold_lower(kStride));
    __m128i sums[kLanes] = {first};
    for (size_t i = 1; i < kLanes; ++i, at += kLane) sums[i] = take<also>(from, to, at);
    for (; size - at >= kStride; at += kStride)
      for (size_t i = 0; i < kLanes; ++i)
        sums[i] = fold(sums[i], by_stride, take<also>(from, to, at + i * kLane));
    for (size_t i = 1; i < kLanes; ++i) sums[i] = fold(sums[i - 1], by_lane, sums[i]);
    first = sums[kLanes - 1];
  }
  for (; at < size; at += kLane) first = fold(first, by_lane, take<also>(from, to, at));
  const uint64_t half = _mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(first)));
  return static_cast<uint32_t>(
      _mm_crc32_u64(half, static_cast<uint64_t>(_mm_extract_epi64(first, 1))));
}

// Less than a lane, without the two inversions.
uint32_t sum_rest(uint32_t crc, const uint8_t* data, size_t size) {
  size_t at = 0;
  if (size >= 8) {
    uint64_t word = 0;
    memcpy(&word, data, sizeof word);
    crc = static_cast<uint32_t>(_mm_crc32_u64(crc, word));
    at = 8;
  }
  for (; at < size; ++at) crc = _mm_crc32_u8(crc, data[at]);
  return crc;
}

uint32_t copy_rest(uint32_t crc, uint8_t* to, const uint8_t* from, size_t size) {
  if (size != 0) memcpy(to, from, size);
  return sum_rest(crc, from, size);
}

}  // namespace

uint32_t crc32c(uint32_t so_far, const uint8_t* data, size_t size) {
  const size_t whole = size / kLane * kLane;
  uint32_t crc = ~so_far;
  if (whole != 0) crc = sum_lanes<Also::kNothing>(crc, data, nullptr, whole);
  return ~sum_rest(crc, data + whole, size - whole);
}

uint32_t copy_crc32c(uint32_t so_far, uint8_t* to, const uint8_t* from, size_t size) {
  const size_t whole = size / kLane * kLane;
  uint32_t crc = ~so_far;
  if (whole != 0) crc = sum_lanes<Also::kStore>(crc, from, to, whole);
  return ~copy_rest(crc, to + whole, from + whole, size - whole);
}

uint32_t stream_crc32c(uint32_t so_far, uint8_t* to, const uint8_t* from, size_t size) {
  const size_t unaligned = (kLane - reinterpret_cast<uintptr_t>(to) % kLane) % kLane;
  const size_t head = unaligned < size ? unaligned : size;
  const size_t whole = (size - head) / kLane * kLane;
  uint32_t crc = copy_rest(~so_far, to, from, head);
  if (whole != 0) crc = sum_lanes<Also::kStream>(crc, from + head, to + head, whole);
  _mm_sfence();
  const size_t done = head + whole;
  return ~copy_rest(crc, to + done, from + done, size - done);
}

}  // namespace amdahl::kernels::avx2
