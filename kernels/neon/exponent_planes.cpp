// 16 values a step. There is no movemask: bits get their weights and are added up, eight at a time.
#include <arm_neon.h>

#include "kernels/neon/kernels.hpp"
#include "kernels/scalar/kernels.hpp"

namespace amdahl::kernels::neon {
namespace {

constexpr size_t kStep = 16;

uint8x16_t weights() {
  const uint8x8_t powers = vcreate_u8(0x8040201008040201);
  return vcombine_u8(powers, powers);
}

void store_plane(uint8_t* to, uint8x16_t codes, unsigned plane) {
  const uint8x16_t set = vtstq_u8(codes, vdupq_n_u8(static_cast<uint8_t>(1U << plane)));
  const uint8x16_t weighted = vandq_u8(set, weights());
  to[0] = vaddv_u8(vget_low_u8(weighted));
  to[1] = vaddv_u8(vget_high_u8(weighted));
}

size_t keep_exceptions(uint8_t* to, uint8x16_t exponents, uint8x16_t escaped) {
  if (vmaxvq_u8(escaped) == 0) return 0;
  uint8_t bytes[kStep];
  uint8_t which[kStep];
  vst1q_u8(bytes, exponents);
  vst1q_u8(which, escaped);
  size_t found = 0;
  for (size_t i = 0; i < kStep; ++i)
    if (which[i] != 0) to[found++] = bytes[i];
  return found;
}

uint8x16_t codes_at(const ExponentMerge& job, size_t index) {
  uint8x16_t codes = vdupq_n_u8(0);
  for (unsigned plane = 0; plane < job.planes; ++plane) {
    const uint8_t* bits = job.plane_bits + plane * job.plane_stride + index / 8;
    const uint8x16_t spread = vcombine_u8(vdup_n_u8(bits[0]), vdup_n_u8(bits[1]));
    const uint8x16_t bit = vdupq_n_u8(static_cast<uint8_t>(1U << plane));
    codes = vorrq_u8(codes, vandq_u8(vtstq_u8(spread, weights()), bit));
  }
  return codes;
}

uint8x16_t with_exceptions(uint8x16_t exponents, uint8x16_t escaped, const ExponentMerge& job,
                           size_t& used) {
  if (vmaxvq_u8(escaped) == 0) return exponents;
  uint8_t bytes[kStep];
  uint8_t which[kStep];
  vst1q_u8(bytes, exponents);
  vst1q_u8(which, escaped);
  for (size_t i = 0; i < kStep; ++i) {
    if (which[i] == 0) continue;
    bytes[i] = used < job.exception_count ? job.exceptions[used] : 0;
    ++used;
  }
  return vld1q_u8(bytes);
}

void store_values(uint8_t* to, uint8x16_t exponents, uint8x16_t rest) {
  const uint8x16_t sign = vdupq_n_u8(0x80);
  uint8x16x2_t halves;
  halves.val[0] = vbslq_u8(sign, vshlq_n_u8(exponents, 7), rest);
  halves.val[1] = vbslq_u8(sign, rest, vshrq_n_u8(exponents, 1));
  vst2q_u8(to, halves);
}

}  // namespace

size_t split_exponents(const ExponentSplit& job) {
  const uint8x16_t escape = vdupq_n_u8(static_cast<uint8_t>((1U << job.planes) - 1));
  const uint8x16_t base = vdupq_n_u8(job.base);
  size_t exceptions = 0;
  size_t i = 0;
  for (; i + kStep <= job.count; i += kStep) {
    const uint8x16x2_t halves = vld2q_u8(job.values + 2 * i);
    const uint8x16_t low = halves.val[0];
    const uint8x16_t high = halves.val[1];
    const uint8x16_t exponents = vorrq_u8(vshlq_n_u8(high, 1), vshrq_n_u8(low, 7));
    vst1q_u8(job.sign_mantissa + i, vbslq_u8(vdupq_n_u8(0x80), high, low));
    const uint8x16_t codes = vminq_u8(vsubq_u8(exponents, base), escape);
    for (unsigned plane = 0; plane < job.planes; ++plane)
      store_plane(job.plane_bits + plane * job.plane_stride + i / 8, codes, plane);
    exceptions += keep_exceptions(job.exceptions + exceptions, exponents, vceqq_u8(codes, escape));
  }
  ExponentSplit rest = job;
  rest.values += 2 * i;
  rest.count -= i;
  rest.sign_mantissa += i;
  rest.plane_bits += i / 8;
  rest.exceptions += exceptions;
  return exceptions + scalar::split_exponents(rest);
}

size_t merge_exponents(const ExponentMerge& job) {
  const uint8x16_t escape = vdupq_n_u8(static_cast<uint8_t>((1U << job.planes) - 1));
  size_t used = 0;
  size_t i = 0;
  for (; i + kStep <= job.count; i += kStep) {
    const uint8x16_t codes = codes_at(job, i);
    const uint8x16_t exponents =
        with_exceptions(vaddq_u8(codes, vdupq_n_u8(job.base)), vceqq_u8(codes, escape), job, used);
    store_values(job.values + 2 * i, exponents, vld1q_u8(job.sign_mantissa + i));
  }
  const size_t spent = used < job.exception_count ? used : job.exception_count;
  ExponentMerge rest = job;
  rest.sign_mantissa += i;
  rest.plane_bits += i / 8;
  rest.exceptions += spent;
  rest.exception_count -= spent;
  rest.count -= i;
  rest.values += 2 * i;
  return used + scalar::merge_exponents(rest);
}

}  // namespace amdahl::kernels::neon
