// 32 elements a step. Instructions work on halves of a register, so each way ends (or begins) with
// a permutation across them.
#include <immintrin.h>

#include "kernels/avx2/kernels.hpp"

namespace amdahl::kernels::avx2 {
namespace {

constexpr size_t kStep = 32;

__m256i load(const uint8_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
void store(uint8_t* to, __m256i bytes) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
}

// A matrix of 4 x 4 bytes in each half, turned over its diagonal.
__m256i transpose_bytes(__m256i bytes) {
  const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm256_shuffle_epi8(bytes, _mm256_broadcastsi128_si256(order));
}

struct Four {
  __m256i row[4];
};

// A matrix of 4 x 4 words of 32 bits in each half, turned over its diagonal.
Four transpose_words(const Four& in) {
  const __m256i lower01 = _mm256_unpacklo_epi32(in.row[0], in.row[1]);
  const __m256i lower23 = _mm256_unpacklo_epi32(in.row[2], in.row[3]);
  const __m256i upper01 = _mm256_unpackhi_epi32(in.row[0], in.row[1]);
  const __m256i upper23 = _mm256_unpackhi_epi32(in.row[2], in.row[3]);
  return {{_mm256_unpacklo_epi64(lower01, lower23), _mm256_unpackhi_epi64(lower01, lower23),
           _mm256_unpacklo_epi64(upper01, upper23), _mm256_unpackhi_epi64(upper01, upper23)}};
}

void shuffle2_step(uint8_t* planes, size_t stride, const uint8_t* elements) {
  const __m256i low = _mm256_set1_epi16(0xFF);
  const __m256i a = load(elements);
  const __m256i b = load(elements + 32);
  const __m256i first = _mm256_packus_epi16(_mm256_and_si256(a, low), _mm256_and_si256(b, low));
  const __m256i second = _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
  store(planes, _mm256_permute4x64_epi64(first, 0xD8));
  store(planes + stride, _mm256_permute4x64_epi64(second, 0xD8));
}

void unshuffle2_step(uint8_t* elements, const uint8_t* planes, size_t stride) {
  const __m256i first = _mm256_permute4x64_epi64(load(planes), 0xD8);
  const __m256i second = _mm256_permute4x64_epi64(load(planes + stride), 0xD8);
  store(elements, _mm256_unpacklo_epi8(first, second));
  store(elements + 32, _mm256_unpackhi_epi8(first, second));
}

void shuffle4_step(uint8_t* planes, size_t stride, const uint8_t* elements) {
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  Four in;
  for (size_t i = 0; i < 4; ++i) in.row[i] = transpose_bytes(load(elements + 32 * i));
  const Four out = transpose_words(in);
  for (size_t i = 0; i < 4; ++i)
    store(planes + i * stride, _mm256_permutevar8x32_epi32(out.row[i], order));
}

void unshuffle4_step(uint8_t* elements, const uint8_t* planes, size_t stride) {
  const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
  Four in;
  for (size_t i = 0; i < 4; ++i)
    in.row[i] = _mm256_permutevar8x32_epi32(load(planes + i * stride), order);
  const Four out = transpose_words(in);
  for (size_t i = 0; i < 4; ++i) store(elements + 32 * i, transpose_bytes(out.row[i]));
}

}  // namespace

void shuffle(uint8_t* planes, const uint8_t* elements, size_t count, unsigned width) {
  size_t i = 0;
  if (width == 2)
    for (; i + kStep <= count; i += kStep) shuffle2_step(planes + i, count, elements + 2 * i);
  else
    for (; i + kStep <= count; i += kStep) shuffle4_step(planes + i, count, elements + 4 * i);
  for (; i < count; ++i)
    for (unsigned byte = 0; byte < width; ++byte)
      planes[byte * count + i] = elements[i * width + byte];
}

void unshuffle(uint8_t* elements, const uint8_t* planes, size_t count, unsigned width) {
  size_t i = 0;
  if (width == 2)
    for (; i + kStep <= count; i += kStep) unshuffle2_step(elements + 2 * i, planes + i, count);
  else
    for (; i + kStep <= count; i += kStep) unshuffle4_step(elements + 4 * i, planes + i, count);
  for (; i < count; ++i)
    for (unsigned byte = 0; byte < width; ++byte)
      elements[i * width + byte] = planes[byte * count + i];
}

}  // namespace amdahl::kernels::avx2
