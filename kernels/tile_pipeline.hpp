// What a snapshot does to a tensor, tile by tile: every byte crosses memory once, and the steps
// after the first find it in a cache. The same functions in passes over the whole tensor take
// about twice as long (make bench-kernels).
//
// Thread: any; tensors can be cut at any value, and their sums combined (crc32c.hpp). Nothing is
// allocated.
#pragma once

#include "kernels/bytes.hpp"
#include "kernels/dispatch.hpp"

namespace amdahl::kernels {

struct TileSums {
  std::uint32_t source = 0;  // CRC32C of what came in
  std::uint32_t result = 0;  // and of what went out
};

// CRC32C of fp32, cast to bf16, delta to `previous`, CRC32C of the delta. Sizes as for cast_delta()
// in delta.hpp; nothing overlaps.
TileSums snapshot_delta(MutableBytes delta, Bytes fp32, Bytes previous,
                        const Row& row = active_row());

// The same without a previous state: CRC32C of fp32, cast to bf16, CRC32C of that.
TileSums snapshot_cast(MutableBytes bf16, Bytes fp32, const Row& row = active_row());

// The way back: CRC32C of the delta, `previous` and delta to bf16, CRC32C of that. `bf16` may be
// `previous` itself, so that a chain of deltas needs one buffer.
TileSums restore_delta(MutableBytes bf16, Bytes delta, Bytes previous,
                       const Row& row = active_row());

}  // namespace amdahl::kernels
