// CRC32C by folding: eight registers of 64 bytes hide the latency of the multiplier.
//
// The crc32 instruction could take streams of its own beside it: a fifth faster in a second-level
// cache of Zen 4, but three times slower beyond, where the prefetcher loses the streams; and a size
// does not tell where the bytes are.
#include <immintrin.h>
#include <string.h>

#include "kernels/avx2/kernels.hpp"
#include "kernels/avx512/kernels.hpp"
#include "kernels/crc32c_folding.hpp"

namespace amdahl::kernels::avx512 {
namespace {

constexpr size_t kLane = 64;
constexpr size_t kLanes = 8;
constexpr size_t kStride = kLane * kLanes;

enum class Also { kNothing, kStore, kStream };  // what happens to the bytes besides the sum

template <Also also>
__m512i take(const uint8_t* from, uint8_t* to, size_t at) {
  const __m512i lane = _mm512_loadu_si512(from + at);
  if constexpr (also == Also::kStore) _mm512_storeu_si512(to + at, lane);
  if constexpr (also == Also::kStream)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + at), lane);
  return lane;
}

__m512i constant(uint32_t lower, uint32_t upper) {
  return _mm512_broadcast_i32x4(_mm_set_epi64x(upper, lower));
}

__m512i fold(__m512i far, __m512i by, __m512i near) {
  const __m512i lower = _mm512_clmulepi64_epi128(far, by, 0x00);
  const __m512i upper = _mm512_clmulepi64_epi128(far, by, 0x11);
  return _mm512_ternarylogic_epi64(lower, upper, near, 0x96);  // XOR of all three
}

uint32_t reduce(__m512i lane) {
  uint64_t words[8];
  _mm512_storeu_si512(words, lane);
  uint64_t crc = 0;
  for (const uint64_t word : words) crc = _mm_crc32_u64(crc, word);
  return static_cast<uint32_t>(crc);
}

// `size` is a multiple of kLane and not 0. Takes and returns the sum without its two inversions.
template <Also also>
uint32_t sum_lanes(uint32_t crc, const uint8_t* from, uint8_t* to, size_t size) {
  const __m512i by_lane = constant(fold_lower(kLane), fold_upper(kLane));
  __m512i first = take<also>(from, to, 0);
  first = _mm512_xor_si512(first, _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(crc))));
  size_t at = kLane;
  if (size >= 2 * kStride) {
    const __m512i by_stride = constant(fold_lower(kStride), fold_upper(kStride));
    __m512i sums[kLanes] = {first};
    for (size_t i = 1; i < kLanes; ++i, at += kLane) sums[i] = take<also>(from, to, at);
    for (; size - at >= kStride; at += kStride)
      for (size_t i = 0; i < kLanes; ++i)
        sums[i] = fold(sums[i], by_stride, take<also>(from, to, at + i * kLane));
    for (size_t i = 1; i < kLanes; ++i) sums[i] = fold(sums[i - 1], by_lane, sums[i]);
    first = sums[kLanes - 1];
  }
  for (; at < size; at += kLane) first = fold(first, by_lane, take<also>(from, to, at));
  return reduce(first);
}

}  // namespace

uint32_t crc32c(uint32_t so_far, const uint8_t* data, size_t size) {
  const size_t whole = size / kLane * kLane;
  if (whole != 0) so_far = ~sum_lanes<Also::kNothing>(~so_far, data, nullptr, whole);
  return avx2::crc32c(so_far, data + whole, size - whole);
}

uint32_t copy_crc32c(uint32_t so_far, uint8_t* to, const uint8_t* from, size_t size) {
  const size_t whole = size / kLane * kLane;
  if (whole != 0) so_far = ~sum_lanes<Also::kStore>(~so_far, from, to, whole);
  return avx2::copy_crc32c(so_far, to + whole, from + whole, size - whole);
}

uint32_t stream_crc32c(uint32_t so_far, uint8_t* to, const uint8_t* from, size_t size) {
  const size_t unaligned = (kLane - reinterpret_cast<uintptr_t>(to) % kLane) % kLane;
  const size_t head = unaligned < size ? unaligned : size;
  const size_t whole = (size - head) / kLane * kLane;
  so_far = avx2::copy_crc32c(so_far, to, from, head);
  if (whole != 0) so_far = ~sum_lanes<Also::kStream>(~so_far, from + head, to + head, whole);
  _mm_sfence();
  const size_t done = head + whole;
  return avx2::copy_crc32c(so_far, to + done, from + done, size - done);
}

}  // namespace amdahl::kernels::avx512
