// Reads stretches of one stored object into places in memory; every chunk they touch is checked.
//
// Bytes come piece by piece through a small buffer, and are copied and summed in one pass while
// they are in the processor's cache. Where a receipt has SHA-256, as under a signature, it is
// checked too. Thread: any; one call uses one thread. Failure: kCorrupt names the object and the
// chunk, and what was written to memory is then not to be used; else what the store says.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "checkpoint/format/chunks.hpp"
#include "checkpoint/store/store.hpp"
#include "kernels/bytes.hpp"

namespace amdahl::checkpoint {

inline constexpr std::int64_t kReadUnitBytes = std::int64_t{4} << 20U;  // of one request

struct Wanted {
  std::int64_t begin = 0;  // in the object
  std::int64_t bytes = 0;
  std::byte* to = nullptr;
  std::int64_t end() const { return begin + bytes; }
};

// Buffers that threads share one after another.
class BufferPool {
 public:
  Scratch take();
  void give_back(Scratch buffer);

 private:
  std::mutex mutex_;
  std::vector<Scratch> free_;
};

class ObjectReader {
 public:
  // A range of whole chunks, read at once.
  struct Unit {
    std::int64_t first_chunk = 0;
    std::int64_t end_chunk = 0;
    std::size_t first_wanted = 0;  // none before it ends in the unit or after
  };

  ObjectReader(std::string name, ChunkSums sums, std::vector<Wanted> wanted);
  const std::vector<Unit>& units() const { return units_; }
  const std::string& name() const { return name_; }
  Result<void> read(Store& store, const Unit& unit, BufferPool& buffers,
                    const StoreCall& call) const;

 private:
  friend class UnitReader;
  void cut_into_units();

  std::string name_;
  ChunkSums sums_;
  std::vector<Wanted> wanted_;  // by begin
  bool streams_ = false;        // so much that it should not push other things out of the caches
  std::vector<Unit> units_;
};

}  // namespace amdahl::checkpoint
