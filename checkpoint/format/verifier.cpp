#include "checkpoint/format/verifier.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace amdahl::checkpoint {
namespace {

ChunkDigests digests_of(const ChunkSums& sums) {
  return sums.sha256.empty() ? ChunkDigests::kCrc32c : ChunkDigests::kCrc32cAndSha256;
}

std::unexpected<Error> bad_text(const std::string& object, const BadChunk& first,
                                std::int64_t count, std::size_t chunks) {
  return fail(Errc::kCorrupt, "{}: chunk {} (bytes {} to {}) {}; {} of {} chunks are bad", object,
              first.index, first.begin, first.end, first.missing ? "is missing" : "is damaged",
              count, chunks);
}

}  // namespace

std::unexpected<Error> bad_chunk(const std::string& object, const ChunkSums& expected,
                                 std::int64_t first, std::int64_t count) {
  return bad_text(object,
                  {.index = first,
                   .begin = first * expected.chunk_bytes,
                   .end = std::min((first + 1) * expected.chunk_bytes, expected.bytes)},
                  count, expected.crc32c.size());
}

Verifier::Verifier(std::string object, ChunkSums expected, std::int64_t first_chunk)
    : object_(std::move(object)),
      expected_(std::move(expected)),
      summer_(expected_.chunk_bytes, digests_of(expected_)),
      chunk_(first_chunk),
      at_(first_chunk * expected_.chunk_bytes) {
  AMDAHL_CHECK(
      std::cmp_equal(expected_.crc32c.size(), chunk_count(expected_.bytes, expected_.chunk_bytes)));
  AMDAHL_CHECK(expected_.sha256.empty() || expected_.sha256.size() == expected_.crc32c.size());
  AMDAHL_CHECK(first_chunk >= 0 && at_ <= expected_.bytes);
}

std::int64_t Verifier::chunk_end() const {
  return std::min((chunk_ + 1) * expected_.chunk_bytes, expected_.bytes);
}

void Verifier::add(Bytes bytes) {
  while (!bytes.empty()) {
    if (at_ == expected_.bytes) {
      surplus_ += static_cast<std::int64_t>(bytes.size());
      return;
    }
    const auto room = static_cast<std::size_t>(chunk_end() - at_);
    const Bytes piece = bytes.first(std::min(room, bytes.size()));
    summer_.add(piece);
    at_ += static_cast<std::int64_t>(piece.size());
    bytes = bytes.subspan(piece.size());
    if (at_ == chunk_end()) close_chunk();
  }
}

void Verifier::close_chunk() {
  const ChunkSums found = summer_.finish();
  const auto index = static_cast<std::size_t>(chunk_);
  const bool same = found.crc32c.at(0) == expected_.crc32c.at(index) &&
                    (found.sha256.empty() || found.sha256.at(0) == expected_.sha256.at(index));
  if (!same) note(false);
  ++chunk_;
}

void Verifier::note(bool missing) {
  ++bad_count_;
  if (bad_.size() == kBadChunksMax) return;
  bad_.push_back({.index = chunk_,
                  .begin = chunk_ * expected_.chunk_bytes,
                  .end = chunk_end(),
                  .missing = missing});
}

Result<void> Verifier::finish() {
  for (; std::cmp_less(chunk_, expected_.crc32c.size()); ++chunk_) note(true);
  return verdict();
}

Result<void> Verifier::finish_range() {
  if (at_ != expected_.bytes && at_ % expected_.chunk_bytes != 0) note(true);
  return verdict();
}

Result<void> Verifier::verdict() const {
  if (bad_count_ > 0) return bad_text(object_, bad_.front(), bad_count_, expected_.crc32c.size());
  if (surplus_ > 0)
    return fail(Errc::kCorrupt, "{}: {} bytes after its end at {}", object_, surplus_,
                expected_.bytes);
  return {};
}

}  // namespace amdahl::checkpoint
