// The specification of the casts: round to nearest, ties to even; NaN stays NaN, made quiet, with
// its sign and the upper bits of its payload; denormals are kept.
#include <string.h>

#include "kernels/scalar/kernels.hpp"

namespace amdahl::kernels::scalar {
namespace {

uint16_t rounded(uint32_t bits) {
  constexpr uint32_t kInfinity = 0x7F800000;
  constexpr uint16_t kQuiet = 0x0040;
  if ((bits & 0x7FFFFFFF) > kInfinity) return static_cast<uint16_t>(bits >> 16 | kQuiet);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

uint16_t rounded_value(const uint8_t* fp32, size_t index) {
  uint32_t bits = 0;
  memcpy(&bits, fp32 + 4 * index, sizeof bits);
  return rounded(bits);
}

}  // namespace

void fp32_to_bf16(uint8_t* bf16, const uint8_t* fp32, size_t values) {
  for (size_t i = 0; i < values; ++i) {
    const uint16_t value = rounded_value(fp32, i);
    memcpy(bf16 + 2 * i, &value, sizeof value);
  }
}

void bf16_to_fp32(uint8_t* fp32, const uint8_t* bf16, size_t values) {
  for (size_t i = 0; i < values; ++i) {
    uint16_t value = 0;
    memcpy(&value, bf16 + 2 * i, sizeof value);
    const uint32_t bits = static_cast<uint32_t>(value) << 16;
    memcpy(fp32 + 4 * i, &bits, sizeof bits);
  }
}

void cast_delta(uint8_t* delta, const uint8_t* fp32, const uint8_t* previous, size_t values) {
  for (size_t i = 0; i < values; ++i) {
    uint16_t before = 0;
    memcpy(&before, previous + 2 * i, sizeof before);
    const uint16_t value = before ^ rounded_value(fp32, i);
    memcpy(delta + 2 * i, &value, sizeof value);
  }
}

}  // namespace amdahl::kernels::scalar
