// How a bf16 tensor is stored after its exponents were taken apart (kernels/row.hpp says how):
//
//   u8 base | u8 planes (1 to 7) | 6 zero bytes | u64 exceptions
//   sign and mantissa, a byte each | planes of ceil(count / 8) bytes | exceptions, a byte each
//
// Plain values; thread any. Failure: Errc::kCorrupt.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "checkpoint/format/digest.hpp"

namespace amdahl::checkpoint {

inline constexpr std::int64_t kPlanesHeadBytes = 16;
inline constexpr int kPlanesMax = 7;

struct PlanesHead {
  std::uint8_t base = 0;
  std::uint8_t planes = 1;
  std::int64_t exceptions = 0;
  bool operator==(const PlanesHead&) const = default;
};

std::int64_t planes_bytes(const PlanesHead& head, std::int64_t count);
// The fewest and most that `count` values can take.
std::int64_t planes_bytes_min(std::int64_t count);
std::int64_t planes_bytes_max(std::int64_t count);

std::string write_planes_head(const PlanesHead& head);
// Of a tensor of `count` values that takes stored.size() bytes.
Result<PlanesHead> read_planes_head(Bytes stored, std::int64_t count);

}  // namespace amdahl::checkpoint
