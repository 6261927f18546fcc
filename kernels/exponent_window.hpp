// Which exponents of a block get a code. Not dispatched: it looks at one value in sixteen, and
// every row has to come to the same answer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace amdahl::kernels {

struct ExponentWindow {
  std::uint8_t base = 0;    // the exponent with code 0
  std::uint8_t planes = 0;  // bits of a code; 0 when the block is better left as it is
};

ExponentWindow choose_exponent_window(const std::uint8_t* bf16, std::size_t values);

}  // namespace amdahl::kernels
