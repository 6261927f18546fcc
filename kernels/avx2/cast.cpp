#include <immintrin.h>

#include "kernels/avx2/kernels.hpp"
#include "kernels/scalar/kernels.hpp"

namespace amdahl::kernels::avx2 {
namespace {

constexpr size_t kValues = 16;  // of one step

__m256i load(const uint8_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
void store(uint8_t* to, __m256i bits) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bits);
}

// Eight values, each in the lower half of its 32 bits.
__m256i rounded(__m256i bits) {
  const __m256i magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFFFFFF));
  const __m256i nan = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x7F800000));
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF));
  const __m256i number = _mm256_add_epi32(bits, half);
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x00400000));
  return _mm256_srli_epi32(_mm256_blendv_epi8(number, quiet, nan), 16);
}

__m256i rounded_step(const uint8_t* fp32) {
  const __m256i packed = _mm256_packus_epi32(rounded(load(fp32)), rounded(load(fp32 + 32)));
  return _mm256_permute4x64_epi64(packed, 0xD8);  // packing works on halves of a register
}

}  // namespace

void fp32_to_bf16(uint8_t* bf16, const uint8_t* fp32, size_t values) {
  size_t i = 0;
  for (; i + kValues <= values; i += kValues) store(bf16 + 2 * i, rounded_step(fp32 + 4 * i));
  scalar::fp32_to_bf16(bf16 + 2 * i, fp32 + 4 * i, values - i);
}

void bf16_to_fp32(uint8_t* fp32, const uint8_t* bf16, size_t values) {
  size_t i = 0;
  for (; i + kValues <= values; i += kValues) {
    const __m256i narrow = load(bf16 + 2 * i);
    const __m256i lower = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(narrow));
    const __m256i upper = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(narrow, 1));
    store(fp32 + 4 * i, _mm256_slli_epi32(lower, 16));
    store(fp32 + 4 * i + 32, _mm256_slli_epi32(upper, 16));
  }
  scalar::bf16_to_fp32(fp32 + 4 * i, bf16 + 2 * i, values - i);
}

void cast_delta(uint8_t* delta, const uint8_t* fp32, const uint8_t* previous, size_t values) {
  size_t i = 0;
  for (; i + kValues <= values; i += kValues)
    store(delta + 2 * i, _mm256_xor_si256(rounded_step(fp32 + 4 * i), load(previous + 2 * i)));
  scalar::cast_delta(delta + 2 * i, fp32 + 4 * i, previous + 2 * i, values - i);
}

}  // namespace amdahl::kernels::avx2
