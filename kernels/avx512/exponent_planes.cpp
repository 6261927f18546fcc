// 64 values a step. A plane is a mask register, exceptions are compressed and expanded by one
// instruction each. The number of planes is a template argument, so that their loops unroll.
#include <immintrin.h>
#include <string.h>

#include "kernels/avx512/kernels.hpp"
#include "kernels/scalar/kernels.hpp"

namespace amdahl::kernels::avx512 {
namespace {

constexpr size_t kStep = 64;

__m512i all(unsigned byte) {
  return _mm512_set1_epi8(static_cast<char>(byte));
}

// The lower bytes of two registers of 16-bit words.
__m512i narrow(__m512i a, __m512i b) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(a)),
                            _mm512_cvtepi16_epi8(b), 1);
}

template <unsigned planes>
size_t split(const ExponentSplit& job, size_t whole) {
  const __m512i escape = all((1U << planes) - 1);
  const __m512i base = all(job.base);
  size_t exceptions = 0;
  for (size_t i = 0; i < whole; i += kStep) {
    const __m512i a = _mm512_loadu_si512(job.values + 2 * i);
    const __m512i b = _mm512_loadu_si512(job.values + 2 * i + 64);
    const __m512i exponents = narrow(_mm512_srli_epi16(a, 7), _mm512_srli_epi16(b, 7));
    const __m512i low = narrow(a, b);
    const __m512i high = narrow(_mm512_srli_epi16(a, 8), _mm512_srli_epi16(b, 8));
    // By the bits of the first operand: the second where set, else the third.
    _mm512_storeu_si512(job.sign_mantissa + i,
                        _mm512_ternarylogic_epi64(all(0x80), high, low, 0xCA));
    const __m512i codes = _mm512_min_epu8(_mm512_sub_epi8(exponents, base), escape);
    for (unsigned plane = 0; plane < planes; ++plane) {
      const uint64_t bits = _mm512_test_epi8_mask(codes, all(1U << plane));
      memcpy(job.plane_bits + plane * job.plane_stride + i / 8, &bits, sizeof bits);
    }
    // Compressed in a register and stored whole: compressing to memory is microcode on some.
    const __mmask64 escaped = _mm512_cmpeq_epi8_mask(codes, escape);
    _mm512_storeu_si512(job.exceptions + exceptions,
                        _mm512_maskz_compress_epi8(escaped, exponents));
    exceptions += static_cast<size_t>(_mm_popcnt_u64(escaped));
  }
  return exceptions;
}

__m512i exceptions_at(const ExponentMerge& job, size_t used) {
  if (used >= job.exception_count) return _mm512_setzero_si512();
  const size_t left = job.exception_count - used;
  if (left >= kStep) return _mm512_loadu_si512(job.exceptions + used);
  return _mm512_maskz_loadu_epi8(_bzhi_u64(~uint64_t{0}, static_cast<unsigned>(left)),
                                 job.exceptions + used);
}

// 32 values from 32 bytes of each.
__m512i joined(__m256i exponents, __m256i rest) {
  const __m512i wide = _mm512_cvtepu8_epi16(rest);
  const __m512i twice = _mm512_or_si512(wide, _mm512_slli_epi16(wide, 8));
  const __m512i shifted = _mm512_slli_epi16(_mm512_cvtepu8_epi16(exponents), 7);
  const __m512i kept = _mm512_set1_epi16(static_cast<short>(0x807F));
  return _mm512_ternarylogic_epi64(twice, kept, shifted, 0xEA);  // (twice & kept) | shifted
}

template <unsigned planes>
size_t merge(const ExponentMerge& job, size_t whole) {
  const __m512i base = all(job.base);
  size_t used = 0;
  for (size_t i = 0; i < whole; i += kStep) {
    __m512i exponents = base;
    uint64_t escaped = ~uint64_t{0};
    for (unsigned plane = 0; plane < planes; ++plane) {
      uint64_t bits = 0;
      memcpy(&bits, job.plane_bits + plane * job.plane_stride + i / 8, sizeof bits);
      exponents = _mm512_mask_add_epi8(exponents, bits, exponents, all(1U << plane));
      escaped &= bits;
    }
    exponents = _mm512_mask_expand_epi8(exponents, escaped, exceptions_at(job, used));
    used += static_cast<size_t>(_mm_popcnt_u64(escaped));
    const __m512i rest = _mm512_loadu_si512(job.sign_mantissa + i);
    _mm512_storeu_si512(job.values + 2 * i,
                        joined(_mm512_castsi512_si256(exponents), _mm512_castsi512_si256(rest)));
    _mm512_storeu_si512(job.values + 2 * i + 64, joined(_mm512_extracti64x4_epi64(exponents, 1),
                                                        _mm512_extracti64x4_epi64(rest, 1)));
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

}  // namespace amdahl::kernels::avx512
