// The specification of the exponent planes. A bf16 is, from its highest bit: sign, eight bits of
// exponent, seven of mantissa.
#include <string.h>

#include "kernels/scalar/kernels.hpp"

namespace amdahl::kernels::scalar {

size_t split_exponents(const ExponentSplit& job) {
  const uint8_t escape = static_cast<uint8_t>((1U << job.planes) - 1);
  for (unsigned plane = 0; plane < job.planes; ++plane)
    memset(job.plane_bits + plane * job.plane_stride, 0, (job.count + 7) / 8);
  size_t exceptions = 0;
  for (size_t i = 0; i < job.count; ++i) {
    const uint8_t low = job.values[2 * i];
    const uint8_t high = job.values[2 * i + 1];
    const uint8_t exponent = static_cast<uint8_t>(high << 1 | low >> 7);
    uint8_t code = static_cast<uint8_t>(exponent - job.base);
    if (code >= escape) {
      code = escape;
      job.exceptions[exceptions++] = exponent;
    }
    job.sign_mantissa[i] = (high & 0x80) | (low & 0x7F);
    for (unsigned plane = 0; plane < job.planes; ++plane)
      job.plane_bits[plane * job.plane_stride + i / 8] |=
          static_cast<uint8_t>((code >> plane & 1U) << (i % 8));
  }
  return exceptions;
}

size_t merge_exponents(const ExponentMerge& job) {
  const uint8_t escape = static_cast<uint8_t>((1U << job.planes) - 1);
  size_t exceptions = 0;
  for (size_t i = 0; i < job.count; ++i) {
    uint8_t code = 0;
    for (unsigned plane = 0; plane < job.planes; ++plane)
      code |= static_cast<uint8_t>(
          (job.plane_bits[plane * job.plane_stride + i / 8] >> (i % 8) & 1U) << plane);
    uint8_t exponent = static_cast<uint8_t>(job.base + code);
    if (code == escape) {
      exponent = exceptions < job.exception_count ? job.exceptions[exceptions] : 0;
      ++exceptions;
    }
    const uint8_t rest = job.sign_mantissa[i];
    job.values[2 * i] = static_cast<uint8_t>(exponent << 7) | (rest & 0x7F);
    job.values[2 * i + 1] = (rest & 0x80) | exponent >> 1;
  }
  return exceptions;
}

}  // namespace amdahl::kernels::scalar
