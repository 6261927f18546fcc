// Tensors of bf16 taken apart and put together again (checkpoint/format/planes.hpp has the layout).
//
// Thread: any. Failure: kCorrupt for what encode_planes() would not have written.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "checkpoint/format/digest.hpp"
#include "kernels/bytes.hpp"

namespace amdahl::checkpoint {

// Nothing when it would not be smaller.
std::optional<std::string> encode_planes(Bytes bf16);
Result<void> decode_planes(Bytes stored, kernels::MutableBytes bf16);

}  // namespace amdahl::checkpoint
