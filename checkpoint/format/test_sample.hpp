// A small prefix with everything in it, made by the library from fixed values: what the golden
// files hold, and what tests damage. For tests only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checkpoint/format/chunks.hpp"
#include "checkpoint/format/receipt.hpp"
#include "checkpoint/format/signature.hpp"
#include "checkpoint/format/verify.hpp"

namespace amdahl::checkpoint::test {

using Prefix = std::map<std::string, std::string>;  // name to bytes

struct Tensor {
  TensorToStore what = {};
  std::string bytes = {};
  Shape global_shape = {};
  Shape offset = {};
};

// Counting bytes from `first` on, `count` of them.
std::string counting(std::size_t count, int first = 0);

// Puts tensors into an object of that kind and notes it in the receipt.
void store(Prefix& prefix, Receipt& receipt, ObjectName name, const std::vector<Tensor>& tensors,
           ChunkDigests digests = ChunkDigests::kCrc32c);
// Completes and writes the receipt; what reading it gives.
ReadReceipt finish(Prefix& prefix, Receipt receipt);

PrivateKey sample_key();
inline constexpr std::int64_t kFullStep = 100;   // two ranks, a blob, unsigned
inline constexpr std::int64_t kDeltaStep = 200;  // deltas against it, signed
Prefix sample_prefix();

// Of a prefix, as a reader would.
Result<ReadManifest> manifest_of(const Prefix& prefix, std::int64_t step);
Result<std::vector<ReadReceipt>> receipts_of(const Prefix& prefix, const Manifest& manifest);
// Everything there is to verify of one step, without its parents.
Result<void> verify_step(const Prefix& prefix, std::int64_t step);

std::string file_text(const std::string& path);

}  // namespace amdahl::checkpoint::test
