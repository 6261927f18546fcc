#include <immintrin.h>

#include "kernels/avx2/kernels.hpp"
#include "kernels/scalar/kernels.hpp"

namespace amdahl::kernels::avx2 {

void xor_delta(uint8_t* to, const uint8_t* one, const uint8_t* other, size_t size) {
  constexpr size_t kStep = 32;
  size_t i = 0;
  for (; i + kStep <= size; i += kStep) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(one + i));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(other + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm256_xor_si256(a, b));
  }
  scalar::xor_delta(to + i, one + i, other + i, size - i);
}

}  // namespace amdahl::kernels::avx2
