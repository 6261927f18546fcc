// Loads and stores that interleave do all the work.
#include <arm_neon.h>

#include "kernels/neon/kernels.hpp"

namespace amdahl::kernels::neon {
namespace {

constexpr size_t kStep = 16;

}  // namespace

void shuffle(uint8_t* planes, const uint8_t* elements, size_t count, unsigned width) {
  size_t i = 0;
  for (; width == 2 && i + kStep <= count; i += kStep) {
    const uint8x16x2_t step = vld2q_u8(elements + 2 * i);
    for (unsigned byte = 0; byte < 2; ++byte) vst1q_u8(planes + byte * count + i, step.val[byte]);
  }
  for (; width == 4 && i + kStep <= count; i += kStep) {
    const uint8x16x4_t step = vld4q_u8(elements + 4 * i);
    for (unsigned byte = 0; byte < 4; ++byte) vst1q_u8(planes + byte * count + i, step.val[byte]);
  }
  for (; i < count; ++i)
    for (unsigned byte = 0; byte < width; ++byte)
      planes[byte * count + i] = elements[i * width + byte];
}

void unshuffle(uint8_t* elements, const uint8_t* planes, size_t count, unsigned width) {
  size_t i = 0;
  for (; width == 2 && i + kStep <= count; i += kStep) {
    uint8x16x2_t step;
    for (unsigned byte = 0; byte < 2; ++byte) step.val[byte] = vld1q_u8(planes + byte * count + i);
    vst2q_u8(elements + 2 * i, step);
  }
  for (; width == 4 && i + kStep <= count; i += kStep) {
    uint8x16x4_t step;
    for (unsigned byte = 0; byte < 4; ++byte) step.val[byte] = vld1q_u8(planes + byte * count + i);
    vst4q_u8(elements + 4 * i, step);
  }
  for (; i < count; ++i)
    for (unsigned byte = 0; byte < width; ++byte)
      elements[i * width + byte] = planes[byte * count + i];
}

}  // namespace amdahl::kernels::neon
