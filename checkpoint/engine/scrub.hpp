// Reads a whole checkpoint without having a use for its tensors: to verify it, or to write it into
// one safetensors file.
//
// Thread: the caller's, and as many more as told. Failure: what the store says; damage of objects
// is what verify_objects() reports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/engine/catalog.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kBadObjectsMax = 64;  // that are listed

struct Scrubbed {
  std::int64_t objects = 0;
  std::int64_t bytes = 0;
  std::int64_t bad_objects = 0;
  std::vector<std::string> bad = {};  // each names the object and its first bad chunk
};
// Every chunk, every header, the name of every blob.
Result<Scrubbed> verify_objects(Store& store, const Checkpoint& checkpoint, int threads,
                                const StoreCall& call);

// All tensors, whole, into a new file. One tensor at a time is in memory.
Result<std::int64_t> export_safetensors(Store& store, const Chain& chain, const std::string& path,
                                        const StoreCall& call);

}  // namespace amdahl::checkpoint
