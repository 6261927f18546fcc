// fp32 <-> bf16. Rounds to nearest, ties to even, as trainers do; NaN stays NaN, made quiet, with
// its sign and upper payload; denormals are kept, which the bf16 instructions of x86 would flush.
#pragma once

#include "kernels/bytes.hpp"
#include "kernels/contract.hpp"
#include "kernels/dispatch.hpp"

namespace amdahl::kernels {

// One bf16 for each fp32: `bf16` has half the size, and does not overlap.
inline void fp32_to_bf16(MutableBytes bf16, Bytes fp32, const Row& row = active_row()) {
  expect(fp32.size() % 4 == 0 && bf16.size() == fp32.size() / 2, "fp32_to_bf16: sizes");
  row.fp32_to_bf16(raw(bf16), raw(fp32), fp32.size() / 4);
}

inline void bf16_to_fp32(MutableBytes fp32, Bytes bf16, const Row& row = active_row()) {
  expect(fp32.size() % 4 == 0 && bf16.size() == fp32.size() / 2, "bf16_to_fp32: sizes");
  row.bf16_to_fp32(raw(fp32), raw(bf16), fp32.size() / 4);
}

}  // namespace amdahl::kernels
