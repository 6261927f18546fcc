// Reads tensors of a checkpoint into the caller's memory, any slice of them, whoever had which part
// of them when they were saved. Every chunk that is read is checked, and every header that is met.
//
// Thread: one call at a time; it uses as many threads as it was told. Lifetime: store and chain
// outlive it. Failure: kCorrupt with the object and chunk, kInvalid for a tensor that is not there
// or has another type or shape; what was written to memory is then not to be used.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/engine/catalog.hpp"
#include "checkpoint/engine/object_reader.hpp"
#include "kernels/bytes.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kStretchesMax = std::size_t{1} << 26U;  // of one call

struct TensorWanted {
  std::string name = {};
  Dtype dtype = Dtype::kF32;
  Shape offset = {};  // of the slice in the whole tensor; empty: its origin
  Shape shape = {};   // of the slice
  kernels::MutableBytes into = {};
};

// A tensor of a checkpoint as a whole.
struct TensorInfo {
  std::string name = {};
  Dtype dtype = Dtype::kF32;
  Shape shape = {};
};
std::vector<TensorInfo> tensors_of(const Checkpoint& checkpoint);  // by name

class Loader {
 public:
  Loader(Store& store, const Chain& chain, int threads);
  Result<void> load(std::span<const TensorWanted> wanted, const StoreCall& call);

 private:
  struct Part {
    std::size_t rank = 0;
    const TensorRecord* record = nullptr;
  };
  // A slice of a part that has to be decoded first.
  struct Encoded {
    Part part = {};
    const TensorWanted* wanted = nullptr;
  };
  struct ObjectIndex {
    std::size_t rank = 0;
    std::size_t object = 0;
    auto operator<=>(const ObjectIndex&) const = default;
  };
  struct Plan {
    std::map<ObjectIndex, std::vector<Wanted>> plain = {};  // every object that is met
    std::vector<Encoded> encoded = {};
    std::size_t stretches = 0;
  };
  Result<void> add(const TensorWanted& wanted, Plan& plan) const;
  void add_part(const TensorWanted& wanted, const Part& part, Plan& plan) const;
  Result<std::vector<std::vector<std::byte>>> add_headers(Plan& plan, const StoreCall& call);
  Result<void> read_objects(Plan plan, const StoreCall& call);
  Result<void> read_encoded(const Encoded& encoded, const StoreCall& call);
  Result<std::vector<std::byte>> decoded(std::size_t level, const Part& part,
                                         const StoreCall& call);
  Result<std::vector<std::byte>> base_of(std::size_t level, const TensorRecord& record,
                                         const StoreCall& call);

  Store& store_;
  const Chain& chain_;
  int threads_;
  BufferPool buffers_;
  std::vector<std::multimap<std::string_view, Part>> parts_;  // for each of the chain
};

}  // namespace amdahl::checkpoint
