// Checksums of an object: one CRC32C for every chunk, on demand a SHA-256 too, and the root over
// them.
//
// CRC32C finds damage: every burst up to 32 bits in a chunk, anything else but for one in 2^32. It
// does not stop somebody who wants to fool it; SHA-256 does, and a signed manifest demands it.
//
//   root = SHA-256( "amdahl-object-1\n"  u64 bytes  u64 chunk_bytes  (u32 crc32c) for each chunk )
//   with SHA-256: first line "amdahl-object-1-sha256\n", and each CRC is followed by its 32 bytes
//
// All numbers are little-endian. Thread: one each. Failure: none while summing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "checkpoint/format/digest.hpp"

namespace amdahl::checkpoint {

inline constexpr std::int64_t kChunkBytesMin = 512;
inline constexpr std::int64_t kChunkBytesMax = std::int64_t{1} << 30;
inline constexpr std::int64_t kChunkBytesDefault = std::int64_t{1} << 20;
inline constexpr std::int64_t kObjectBytesMax = std::int64_t{1} << 42;  // what S3 takes, nearly
inline constexpr std::int64_t kChunksMax = std::int64_t{1} << 22;

enum class ChunkDigests : std::uint8_t { kCrc32c, kCrc32cAndSha256 };

struct ChunkSums {
  std::int64_t bytes = 0;
  std::int64_t chunk_bytes = kChunkBytesDefault;
  std::vector<std::uint32_t> crc32c = {};
  std::vector<Sha256Digest> sha256 = {};  // none, or one for each chunk
  bool operator==(const ChunkSums&) const = default;
};

Sha256Digest object_root(const ChunkSums& sums);

// Powers of two only, so that chunks of chunks and ranges of disks line up.
bool is_chunk_size(std::int64_t chunk_bytes);
std::int64_t chunk_count(std::int64_t bytes, std::int64_t chunk_bytes);

// Bytes in, in pieces of any size; sums out.
class ChunkSummer {
 public:
  explicit ChunkSummer(std::int64_t chunk_bytes = kChunkBytesDefault,
                       ChunkDigests digests = ChunkDigests::kCrc32c);
  void add(Bytes bytes);
  // Of everything so far; begins anew.
  ChunkSums finish();

 private:
  void close_chunk();

  ChunkSums sums_;
  std::int64_t in_chunk_ = 0;
  std::uint32_t crc_ = 0;
  std::optional<Sha256> sha256_;
};

}  // namespace amdahl::checkpoint
