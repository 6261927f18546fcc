#include "checkpoint/format/chunks.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.hpp"
#include "kernels/crc32c.hpp"

namespace amdahl::checkpoint {

Sha256Digest object_root(const ChunkSums& sums) {
  const bool strong = !sums.sha256.empty();
  Sha256 root;
  root.add(std::string_view(strong ? "amdahl-object-1-sha256\n" : "amdahl-object-1\n"));
  root.add_u64(static_cast<std::uint64_t>(sums.bytes));
  root.add_u64(static_cast<std::uint64_t>(sums.chunk_bytes));
  for (std::size_t i = 0; i < sums.crc32c.size(); ++i) {
    root.add_u32(sums.crc32c[i]);
    if (strong) root.add(Bytes(sums.sha256.at(i)));
  }
  return root.finish();
}

bool is_chunk_size(std::int64_t chunk_bytes) {
  return chunk_bytes >= kChunkBytesMin && chunk_bytes <= kChunkBytesMax &&
         std::has_single_bit(static_cast<std::uint64_t>(chunk_bytes));
}

std::int64_t chunk_count(std::int64_t bytes, std::int64_t chunk_bytes) {
  return (bytes + chunk_bytes - 1) / chunk_bytes;
}

ChunkSummer::ChunkSummer(std::int64_t chunk_bytes, ChunkDigests digests) {
  AMDAHL_CHECK(is_chunk_size(chunk_bytes));
  sums_.chunk_bytes = chunk_bytes;
  if (digests == ChunkDigests::kCrc32cAndSha256) sha256_.emplace();
}

void ChunkSummer::add(Bytes bytes) {
  while (!bytes.empty()) {
    const auto room = static_cast<std::size_t>(sums_.chunk_bytes - in_chunk_);
    const Bytes piece = bytes.first(std::min(room, bytes.size()));
    crc_ = kernels::crc32c(piece, crc_);
    if (sha256_) sha256_->add(piece);
    in_chunk_ += static_cast<std::int64_t>(piece.size());
    bytes = bytes.subspan(piece.size());
    if (in_chunk_ == sums_.chunk_bytes) close_chunk();
  }
}

ChunkSums ChunkSummer::finish() {
  if (in_chunk_ > 0) close_chunk();
  return std::exchange(sums_, ChunkSums{.chunk_bytes = sums_.chunk_bytes});
}

void ChunkSummer::close_chunk() {
  sums_.bytes += std::exchange(in_chunk_, 0);
  sums_.crc32c.push_back(std::exchange(crc_, 0));
  if (sha256_) sums_.sha256.push_back(sha256_->finish());
}

}  // namespace amdahl::checkpoint
