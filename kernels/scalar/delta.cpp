#include "kernels/scalar/kernels.hpp"

namespace amdahl::kernels::scalar {

void xor_delta(uint8_t* to, const uint8_t* one, const uint8_t* other, size_t size) {
  for (size_t i = 0; i < size; ++i) to[i] = one[i] ^ other[i];
}

}  // namespace amdahl::kernels::scalar
