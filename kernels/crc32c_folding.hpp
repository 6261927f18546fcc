// Constants for CRC32C by carry-less multiplication. Everything is consteval: nothing is emitted,
// so files of any instruction set may include this.
//
// A register holds polynomials with the highest power in the lowest bit. A product of two 64-bit
// halves then comes out multiplied by x once too often, and a constant that fills the lower 32 bits
// of a half stands for itself times x^32. To move a half up by N bits one therefore multiplies it
// by x^(N - 33) modulo the polynomial of CRC32C. The lower half of a 128-bit lane lies 64 bits
// further from the end than the upper one.
#pragma once

#include <stdint.h>

namespace amdahl::kernels {

consteval uint32_t x_to_the(unsigned power) {
  uint32_t value = 0x80000000;  // x^0
  for (unsigned i = 0; i < power; ++i) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82F63B78 : 0);
  return value;
}

// To fold a lane onto the one that lies `bytes` further on.
consteval uint32_t fold_lower(unsigned bytes) {
  return x_to_the(8 * bytes + 64 - 33);
}
consteval uint32_t fold_upper(unsigned bytes) {
  return x_to_the(8 * bytes - 33);
}

}  // namespace amdahl::kernels
