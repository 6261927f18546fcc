// Lossless compression of bf16 tensors. Exponents of trained weights carry under 3 of their 8 bits,
// signs and mantissas are noise: a value becomes one byte as it is and a code of a few bits.
// The format is written down in docs/reference/kernels.md and does not change: checkpoints hold it.
//
// Thread: any. Bits: the same on every row. Nothing is allocated.
#pragma once

#include <optional>

#include "kernels/bytes.hpp"
#include "kernels/dispatch.hpp"

namespace amdahl::kernels {

constexpr std::size_t kExponentBlockValues = 4096;
constexpr std::size_t kExponentHeaderBytes = 6;

// Enough room for what encode_exponents() writes for this many bytes of bf16.
constexpr std::size_t exponent_codec_bytes_max(std::size_t bf16_bytes) {
  const std::size_t values = bf16_bytes / 2;
  const std::size_t blocks = (values + kExponentBlockValues - 1) / kExponentBlockValues;
  return bf16_bytes + blocks * kExponentHeaderBytes;
}

// Returns how many bytes were written. `to` has room for exponent_codec_bytes_max() and does not
// overlap; the size of `bf16` is even.
std::size_t encode_exponents(MutableBytes to, Bytes bf16, const Row& row = active_row());

// Fills `bf16` exactly from all of `encoded`, or returns false: then `encoded` is not what
// encode_exponents() wrote for a tensor of this size, and `bf16` holds anything. The input may be
// hostile. It is not a checksum: a flipped bit of a mantissa decodes.
[[nodiscard]] bool decode_exponents(MutableBytes bf16, Bytes encoded,
                                    const Row& row = active_row());

}  // namespace amdahl::kernels
