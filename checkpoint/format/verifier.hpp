// Compares an object's bytes with the sums that its receipt has.
//
//   Verifier verifier(name, sums);
//   while (more) verifier.add(piece);      pieces of any size, in order
//   TRY(verifier.finish());                names the object, the chunk and its bytes
//
// Thread: one. Failure: Errc::kCorrupt; memory stays the same whatever the bytes are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "checkpoint/format/chunks.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kBadChunksMax = 64;  // that are listed; all are counted

struct BadChunk {
  std::int64_t index = 0;
  std::int64_t begin = 0;  // in the object
  std::int64_t end = 0;
  bool missing = false;  // the object ends before it does
  bool operator==(const BadChunk&) const = default;
};

// What is said of an object some of whose chunks, from `first` on, are damaged.
std::unexpected<Error> bad_chunk(const std::string& object, const ChunkSums& expected,
                                 std::int64_t first, std::int64_t count);

class Verifier {
 public:
  // `first_chunk`: where the bytes begin, for a reader of a range; it need not read to the end.
  Verifier(std::string object, ChunkSums expected, std::int64_t first_chunk = 0);
  void add(Bytes bytes);
  // Once, after the last byte of the object: what was left out is missing.
  Result<void> finish();
  // Instead of finish(): judges the whole chunks that were read, and what is no whole chunk is bad.
  Result<void> finish_range();

  const std::vector<BadChunk>& bad() const { return bad_; }
  std::int64_t bad_count() const { return bad_count_; }

 private:
  std::int64_t chunk_end() const;
  void close_chunk();
  void note(bool missing);
  Result<void> verdict() const;

  std::string object_;
  ChunkSums expected_;
  ChunkSummer summer_;
  std::int64_t chunk_;
  std::int64_t at_;           // in the object
  std::int64_t surplus_ = 0;  // bytes after the end
  std::vector<BadChunk> bad_;
  std::int64_t bad_count_ = 0;
};

}  // namespace amdahl::checkpoint
