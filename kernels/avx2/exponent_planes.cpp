// 32 values a step: a plane is what movemask takes out of the codes. The number of planes is a
// template argument, so that their loops unroll.
#include <immintrin.h>
#include <string.h>

#include "kernels/avx2/kernels.hpp"
#include "kernels/scalar/kernels.hpp"

namespace amdahl::kernels::avx2 {
namespace {

constexpr size_t kStep = 32;

__m256i load(const uint8_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
void store(uint8_t* to, __m256i bytes) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
}
__m256i all(unsigned byte) {
  return _mm256_set1_epi8(static_cast<char>(byte));
}

// The lower bytes of two registers of 16-bit words whose upper bytes are 0.
__m256i narrow(__m256i a, __m256i b) {
  return _mm256_permute4x64_epi64(_mm256_packus_epi16(a, b), 0xD8);
}

__m256i exponents_of(__m256i a, __m256i b) {
  const __m256i byte = _mm256_set1_epi16(0xFF);
  return narrow(_mm256_and_si256(_mm256_srli_epi16(a, 7), byte),
                _mm256_and_si256(_mm256_srli_epi16(b, 7), byte));
}

__m256i sign_mantissa_of(__m256i a, __m256i b) {
  const __m256i byte = _mm256_set1_epi16(0xFF);
  const __m256i low = narrow(_mm256_and_si256(a, byte), _mm256_and_si256(b, byte));
  const __m256i high = narrow(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
  return _mm256_or_si256(_mm256_and_si256(high, all(0x80)), _mm256_and_si256(low, all(0x7F)));
}

size_t keep_exceptions(uint8_t* to, __m256i exponents, uint32_t which) {
  if (which == 0) return 0;
  uint8_t bytes[kStep];
  store(bytes, exponents);
  size_t found = 0;
  for (; which != 0; which = _blsr_u32(which)) to[found++] = bytes[_tzcnt_u32(which)];
  return found;
}

// Bit i of the word as byte i: 0xFF or 0.
__m256i spread(uint32_t bits) {
  const __m256i word = _mm256_set1_epi32(static_cast<int>(bits));
  const __m256i which_byte =
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i which_bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
  const __m256i bytes = _mm256_shuffle_epi8(word, which_byte);
  return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, which_bit), which_bit);
}

template <unsigned planes>
__m256i codes_at(const ExponentMerge& job, size_t index) {
  __m256i codes = _mm256_setzero_si256();
  for (unsigned plane = 0; plane < planes; ++plane) {
    uint32_t bits = 0;
    memcpy(&bits, job.plane_bits + plane * job.plane_stride + index / 8, sizeof bits);
    codes = _mm256_or_si256(codes, _mm256_and_si256(spread(bits), all(1U << plane)));
  }
  return codes;
}

// In the result: to change a register's bytes in memory and read it back would stall.
size_t patch_exceptions(const ExponentMerge& job, size_t index, uint32_t which, size_t used) {
  for (; which != 0; which = _blsr_u32(which), ++used) {
    const size_t at = index + _tzcnt_u32(which);
    const unsigned exponent = used < job.exception_count ? job.exceptions[used] : 0;
    const unsigned rest = job.sign_mantissa[at];
    const uint16_t value =
        static_cast<uint16_t>((rest & 0x80) << 8 | exponent << 7 | (rest & 0x7F));
    memcpy(job.values + 2 * at, &value, sizeof value);
  }
  return used;
}

void store_values(uint8_t* to, __m256i exponents, __m256i rest) {
  // Byte shifts are word shifts whose foreign bits are masked out.
  const __m256i low = _mm256_or_si256(_mm256_and_si256(_mm256_slli_epi16(exponents, 7), all(0x80)),
                                      _mm256_and_si256(rest, all(0x7F)));
  const __m256i high = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(exponents, 1), all(0x7F)),
                                       _mm256_and_si256(rest, all(0x80)));
  const __m256i low_ordered = _mm256_permute4x64_epi64(low, 0xD8);
  const __m256i high_ordered = _mm256_permute4x64_epi64(high, 0xD8);
  store(to, _mm256_unpacklo_epi8(low_ordered, high_ordered));
  store(to + 32, _mm256_unpackhi_epi8(low_ordered, high_ordered));
}

template <unsigned planes>
size_t split(const ExponentSplit& job, size_t whole) {
  const __m256i escape = all((1U << planes) - 1);
  const __m256i base = all(job.base);
  size_t exceptions = 0;
  for (size_t i = 0; i < whole; i += kStep) {
    const __m256i a = load(job.values + 2 * i);
    const __m256i b = load(job.values + 2 * i + 32);
    const __m256i exponents = exponents_of(a, b);
    store(job.sign_mantissa + i, sign_mantissa_of(a, b));
    const __m256i codes = _mm256_min_epu8(_mm256_sub_epi8(exponents, base), escape);
    for (unsigned plane = 0; plane < planes; ++plane) {
      const __m256i top = _mm256_slli_epi16(codes, static_cast<int>(7 - plane));
      const uint32_t bits = static_cast<uint32_t>(_mm256_movemask_epi8(top));
      memcpy(job.plane_bits + plane * job.plane_stride + i / 8, &bits, sizeof bits);
    }
    const __m256i escaped = _mm256_cmpeq_epi8(codes, escape);
    exceptions += keep_exceptions(job.exceptions + exceptions, exponents,
                                  static_cast<uint32_t>(_mm256_movemask_epi8(escaped)));
  }
  return exceptions;
}

template <unsigned planes>
size_t merge(const ExponentMerge& job, size_t whole) {
  const __m256i escape = all((1U << planes) - 1);
  const __m256i base = all(job.base);
  size_t used = 0;
  for (size_t i = 0; i < whole; i += kStep) {
    const __m256i codes = codes_at<planes>(job, i);
    const __m256i escaped = _mm256_cmpeq_epi8(codes, escape);
    store_values(job.values + 2 * i, _mm256_add_epi8(codes, base), load(job.sign_mantissa + i));
    used = patch_exceptions(job, i, static_cast<uint32_t>(_mm256_movemask_epi8(escaped)), used);
  }
  return used;
}

using Split = size_t (*)(const ExponentSplit&, size_t whole);
using Merge = size_t (*)(const ExponentMerge&, size_t whole);
constexpr Split kSplit[] = {nullptr,  split<1>, split<2>, split<3>,
                            split<4>, split<5>, split<6>, split<7>};
constexpr Merge kMerge[] = {nullptr,  merge<1>, merge<2>, merge<3>,
                            merge<4>, merge<5>, merge<6>, merge<7>};

}  // namespace

size_t split_exponents(const ExponentSplit& job) {
  const size_t whole = job.count / kStep * kStep;
  const size_t exceptions = kSplit[job.planes](job, whole);
  ExponentSplit rest = job;
  rest.values += 2 * whole;
  rest.count -= whole;
  rest.sign_mantissa += whole;
  rest.plane_bits += whole / 8;
  rest.exceptions += exceptions;
  return exceptions + scalar::split_exponents(rest);
}

size_t merge_exponents(const ExponentMerge& job) {
  const size_t whole = job.count / kStep * kStep;
  const size_t used = kMerge[job.planes](job, whole);
  const size_t spent = used < job.exception_count ? used : job.exception_count;
  ExponentMerge rest = job;
  rest.sign_mantissa += whole;
  rest.plane_bits += whole / 8;
  rest.exceptions += spent;
  rest.exception_count -= spent;
  rest.count -= whole;
  rest.values += 2 * whole;
  return used + scalar::merge_exponents(rest);
}

}  // namespace amdahl::kernels::avx2
