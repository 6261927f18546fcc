// Ranges of memory as the contracts of this folder name them. Numbers in them are little-endian,
// at any alignment: tensors in files have none.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace amdahl::kernels {

static_assert(std::endian::native == std::endian::little, "kernels read numbers in place");

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

inline const std::uint8_t* raw(Bytes bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}
inline std::uint8_t* raw(MutableBytes bytes) {
  return reinterpret_cast<std::uint8_t*>(bytes.data());
}

}  // namespace amdahl::kernels
