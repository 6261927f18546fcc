// Not by the bf16 instructions of newer processors: they flush denormals.
#include <immintrin.h>

#include "kernels/avx512/kernels.hpp"
#include "kernels/scalar/kernels.hpp"

namespace amdahl::kernels::avx512 {
namespace {

constexpr size_t kValues = 32;  // of one step

// Sixteen values, each in the upper half of its 32 bits.
__m512i rounded(__m512i bits) {
  const __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi32(0x7FFFFFFF));
  const __mmask16 nan = _mm512_cmpgt_epu32_mask(magnitude, _mm512_set1_epi32(0x7F800000));
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i half = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF));
  const __m512i number = _mm512_add_epi32(bits, half);
  return _mm512_mask_or_epi32(number, nan, bits, _mm512_set1_epi32(0x00400000));
}

__m512i upper_halves() {
  alignas(64) static constexpr uint16_t kOrder[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                                      23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                                      45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  return _mm512_load_si512(kOrder);
}

__m512i rounded_step(const uint8_t* fp32, __m512i order) {
  const __m512i lower = rounded(_mm512_loadu_si512(fp32));
  const __m512i upper = rounded(_mm512_loadu_si512(fp32 + 64));
  return _mm512_permutex2var_epi16(lower, order, upper);
}

}  // namespace

void fp32_to_bf16(uint8_t* bf16, const uint8_t* fp32, size_t values) {
  const __m512i order = upper_halves();
  size_t i = 0;
  for (; i + kValues <= values; i += kValues)
    _mm512_storeu_si512(bf16 + 2 * i, rounded_step(fp32 + 4 * i, order));
  scalar::fp32_to_bf16(bf16 + 2 * i, fp32 + 4 * i, values - i);
}

void cast_delta(uint8_t* delta, const uint8_t* fp32, const uint8_t* previous, size_t values) {
  const __m512i order = upper_halves();
  size_t i = 0;
  for (; i + kValues <= values; i += kValues) {
    const __m512i before = _mm512_loadu_si512(previous + 2 * i);
    const __m512i now = rounded_step(fp32 + 4 * i, order);
    _mm512_storeu_si512(delta + 2 * i, _mm512_xor_si512(now, before));
  }
  scalar::cast_delta(delta + 2 * i, fp32 + 4 * i, previous + 2 * i, values - i);
}

}  // namespace amdahl::kernels::avx512
