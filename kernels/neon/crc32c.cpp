// CRC32C by folding lanes of 16 bytes, eight at a time; the crc32 instruction takes what remains.
#include <arm_acle.h>
#include <arm_neon.h>
#include <string.h>

#include "kernels/crc32c_folding.hpp"
#include "kernels/neon/kernels.hpp"

namespace amdahl::kernels::neon {
namespace {

constexpr size_t kLane = 16;
constexpr size_t kLanes = 8;
constexpr size_t kStride = kLane * kLanes;

enum class Also { kNothing, kStore };  // what happens to the bytes besides the sum

template <Also also>
uint8x16_t take(const uint8_t* from, uint8_t* to, size_t at) {
  const uint8x16_t lane = vld1q_u8(from + at);
  if constexpr (also == Also::kStore) vst1q_u8(to + at, lane);
  return lane;
}

uint64x2_t constant(uint64_t lower, uint64_t upper) {
  return vcombine_u64(vcreate_u64(lower), vcreate_u64(upper));
}

uint8x16_t fold(uint8x16_t far, uint64x2_t by, uint8x16_t near) {
  const poly64x2_t lane = vreinterpretq_p64_u8(far);
  const poly64x2_t factor = vreinterpretq_p64_u64(by);
  const poly128_t lower = vmull_p64(vgetq_lane_p64(lane, 0), vgetq_lane_p64(factor, 0));
  const poly128_t upper = vmull_high_p64(lane, factor);
  return veorq_u8(veorq_u8(vreinterpretq_u8_p128(lower), vreinterpretq_u8_p128(upper)), near);
}

// `size` is a multiple of kLane and not 0. Takes and returns the sum without its two inversions.
template <Also also>
uint32_t sum_lanes(uint32_t crc, const uint8_t* from, uint8_t* to, size_t size) {
  const uint64x2_t by_lane = constant(fold_lower(kLane), fold_upper(kLane));
  uint8x16_t first = veorq_u8(take<also>(from, to, 0), vreinterpretq_u8_u64(constant(crc, 0)));
  size_t at = kLane;
  if (size >= 2 * kStride) {
    const uint64x2_t by_stride = constant(fold_lower(kStride), fold_upper(kStride));
    uint8x16_t sums[kLanes] = {first};
    for (size_t i = 1; i < kLanes; ++i, at += kLane) sums[i] = take<also>(from, to, at);
    for (; size - at >= kStride; at += kStride)
      for (size_t i = 0; i < kLanes; ++i)
        sums[i] = fold(sums[i], by_stride, take<also>(from, to, at + i * kLane));
    for (size_t i = 1; i < kLanes; ++i) sums[i] = fold(sums[i - 1], by_lane, sums[i]);
    first = sums[kLanes - 1];
  }
  for (; at < size; at += kLane) first = fold(first, by_lane, take<also>(from, to, at));
  const uint64x2_t words = vreinterpretq_u64_u8(first);
  return __crc32cd(__crc32cd(0, vgetq_lane_u64(words, 0)), vgetq_lane_u64(words, 1));
}

// Less than a lane, without the two inversions.
uint32_t sum_rest(uint32_t crc, const uint8_t* data, size_t size) {
  for (size_t i = 0; i < size; ++i) crc = __crc32cb(crc, data[i]);
  return crc;
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
  if (size != whole) memcpy(to + whole, from + whole, size - whole);
  return ~sum_rest(crc, from + whole, size - whole);
}

}  // namespace amdahl::kernels::neon
