// What a tensor's elements are, under the names that safetensors files use, and how its bytes are
// stored. Plain values; thread any; failure: none.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "base/fields.hpp"

namespace amdahl::checkpoint {

enum class Dtype : std::uint8_t {
  kBool,
  kU8,
  kI8,
  kF8E4M3,
  kF8E5M2,
  kF8E8M0,
  kU16,
  kI16,
  kF16,
  kBf16,
  kU32,
  kI32,
  kF32,
  kU64,
  kI64,
  kF64,
  kC64,
};
constexpr auto enum_names(Dtype) {
  return std::to_array<EnumName<Dtype>>({
      {Dtype::kBool, "BOOL"},
      {Dtype::kU8, "U8"},
      {Dtype::kI8, "I8"},
      {Dtype::kF8E4M3, "F8_E4M3"},
      {Dtype::kF8E5M2, "F8_E5M2"},
      {Dtype::kF8E8M0, "F8_E8M0"},
      {Dtype::kU16, "U16"},
      {Dtype::kI16, "I16"},
      {Dtype::kF16, "F16"},
      {Dtype::kBf16, "BF16"},
      {Dtype::kU32, "U32"},
      {Dtype::kI32, "I32"},
      {Dtype::kF32, "F32"},
      {Dtype::kU64, "U64"},
      {Dtype::kI64, "I64"},
      {Dtype::kF64, "F64"},
      {Dtype::kC64, "C64"},
  });
}

constexpr std::int64_t element_bytes(Dtype dtype) {
  if (dtype < Dtype::kU16) return 1;
  if (dtype < Dtype::kU32) return 2;
  return dtype < Dtype::kU64 ? 4 : 8;
}

enum class Encoding : std::uint8_t {
  kPlain,         // as in memory, little-endian
  kXor,           // XOR with the same shard of the parent checkpoint
  kBf16Planes,    // planes.hpp
  kXorBf16Planes  // the planes of the XOR
};
constexpr auto enum_names(Encoding) {
  return std::to_array<EnumName<Encoding>>({{Encoding::kPlain, "plain"},
                                            {Encoding::kXor, "xor"},
                                            {Encoding::kBf16Planes, "bf16-planes"},
                                            {Encoding::kXorBf16Planes, "xor-bf16-planes"}});
}
constexpr bool needs_base(Encoding encoding) {
  return encoding == Encoding::kXor || encoding == Encoding::kXorBf16Planes;
}
constexpr bool has_planes(Encoding encoding) {
  return encoding == Encoding::kBf16Planes || encoding == Encoding::kXorBf16Planes;
}

}  // namespace amdahl::checkpoint
