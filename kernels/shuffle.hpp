// Byte shuffle: byte k of every element to plane k, so that bytes of one kind stand together and a
// general compressor finds them. Widths 2 (bf16, fp16) and 4 (fp32).
#pragma once

#include "kernels/bytes.hpp"
#include "kernels/contract.hpp"
#include "kernels/dispatch.hpp"

namespace amdahl::kernels {

inline void shuffle(MutableBytes planes, Bytes elements, unsigned width,
                    const Row& row = active_row()) {
  expect(width == 2 || width == 4, "shuffle: elements have 2 or 4 bytes");
  expect(planes.size() == elements.size() && planes.size() % width == 0, "shuffle: sizes");
  row.shuffle(raw(planes), raw(elements), elements.size() / width, width);
}

inline void unshuffle(MutableBytes elements, Bytes planes, unsigned width,
                      const Row& row = active_row()) {
  expect(width == 2 || width == 4, "unshuffle: elements have 2 or 4 bytes");
  expect(planes.size() == elements.size() && planes.size() % width == 0, "unshuffle: sizes");
  row.unshuffle(raw(elements), raw(planes), elements.size() / width, width);
}

}  // namespace amdahl::kernels
