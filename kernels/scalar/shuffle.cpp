#include "kernels/scalar/kernels.hpp"

namespace amdahl::kernels::scalar {

void shuffle(uint8_t* planes, const uint8_t* elements, size_t count, unsigned width) {
  for (size_t i = 0; i < count; ++i)
    for (unsigned byte = 0; byte < width; ++byte)
      planes[byte * count + i] = elements[i * width + byte];
}

void unshuffle(uint8_t* elements, const uint8_t* planes, size_t count, unsigned width) {
  for (size_t i = 0; i < count; ++i)
    for (unsigned byte = 0; byte < width; ++byte)
      elements[i * width + byte] = planes[byte * count + i];
}

}  // namespace amdahl::kernels::scalar
