#include <arm_neon.h>

#include "kernels/neon/kernels.hpp"
#include "kernels/scalar/kernels.hpp"

namespace amdahl::kernels::neon {
namespace {

constexpr size_t kValues = 8;  // of one step

// Four values, each in the upper half of its 32 bits.
uint32x4_t rounded(uint32x4_t bits) {
  const uint32x4_t magnitude = vandq_u32(bits, vdupq_n_u32(0x7FFFFFFF));
  const uint32x4_t nan = vcgtq_u32(magnitude, vdupq_n_u32(0x7F800000));
  const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
  const uint32x4_t number = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7FFF)));
  return vbslq_u32(nan, vorrq_u32(bits, vdupq_n_u32(0x00400000)), number);
}

uint8x16_t rounded_step(const uint8_t* fp32) {
  const uint32x4_t lower = rounded(vreinterpretq_u32_u8(vld1q_u8(fp32)));
  const uint32x4_t upper = rounded(vreinterpretq_u32_u8(vld1q_u8(fp32 + 16)));
  return vreinterpretq_u8_u16(vshrn_high_n_u32(vshrn_n_u32(lower, 16), upper, 16));
}

}  // namespace

void fp32_to_bf16(uint8_t* bf16, const uint8_t* fp32, size_t values) {
  size_t i = 0;
  for (; i + kValues <= values; i += kValues) vst1q_u8(bf16 + 2 * i, rounded_step(fp32 + 4 * i));
  scalar::fp32_to_bf16(bf16 + 2 * i, fp32 + 4 * i, values - i);
}

void bf16_to_fp32(uint8_t* fp32, const uint8_t* bf16, size_t values) {
  size_t i = 0;
  for (; i + kValues <= values; i += kValues) {
    const uint16x8_t narrow = vreinterpretq_u16_u8(vld1q_u8(bf16 + 2 * i));
    const uint32x4_t lower = vshlq_n_u32(vmovl_u16(vget_low_u16(narrow)), 16);
    const uint32x4_t upper = vshlq_n_u32(vmovl_high_u16(narrow), 16);
    vst1q_u8(fp32 + 4 * i, vreinterpretq_u8_u32(lower));
    vst1q_u8(fp32 + 4 * i + 16, vreinterpretq_u8_u32(upper));
  }
  scalar::bf16_to_fp32(fp32 + 4 * i, bf16 + 2 * i, values - i);
}

void cast_delta(uint8_t* delta, const uint8_t* fp32, const uint8_t* previous, size_t values) {
  size_t i = 0;
  for (; i + kValues <= values; i += kValues)
    vst1q_u8(delta + 2 * i, veorq_u8(rounded_step(fp32 + 4 * i), vld1q_u8(previous + 2 * i)));
  scalar::cast_delta(delta + 2 * i, fp32 + 4 * i, previous + 2 * i, values - i);
}

}  // namespace amdahl::kernels::neon
