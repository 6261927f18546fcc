#include <arm_neon.h>

#include "kernels/neon/kernels.hpp"
#include "kernels/scalar/kernels.hpp"

namespace amdahl::kernels::neon {

void xor_delta(uint8_t* to, const uint8_t* one, const uint8_t* other, size_t size) {
  constexpr size_t kStep = 16;
  size_t i = 0;
  for (; i + kStep <= size; i += kStep)
    vst1q_u8(to + i, veorq_u8(vld1q_u8(one + i), vld1q_u8(other + i)));
  scalar::xor_delta(to + i, one + i, other + i, size - i);
}

}  // namespace amdahl::kernels::neon
