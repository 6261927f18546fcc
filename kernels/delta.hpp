// XOR of two equally long ranges: a delta and its inverse.
#pragma once

#include "kernels/bytes.hpp"
#include "kernels/contract.hpp"
#include "kernels/dispatch.hpp"

namespace amdahl::kernels {

// `to` may be `one` or `other` itself; it overlaps neither in another way.
inline void xor_delta(MutableBytes to, Bytes one, Bytes other, const Row& row = active_row()) {
  expect(to.size() == one.size() && to.size() == other.size(), "xor_delta: sizes differ");
  row.xor_delta(raw(to), raw(one), raw(other), to.size());
}

// fp32 rounded to bf16 (cast.hpp), then the delta to `previous`, in one pass.
inline void cast_delta(MutableBytes delta, Bytes fp32, Bytes previous,
                       const Row& row = active_row()) {
  expect(fp32.size() % 4 == 0 && delta.size() == fp32.size() / 2, "cast_delta: sizes");
  expect(previous.size() == delta.size(), "cast_delta: the previous values have another size");
  row.cast_delta(raw(delta), raw(fp32), raw(previous), fp32.size() / 4);
}

}  // namespace amdahl::kernels
