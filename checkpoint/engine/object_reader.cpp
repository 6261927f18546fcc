#include "checkpoint/engine/object_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "checkpoint/format/verifier.hpp"
#include "kernels/crc32c.hpp"

namespace amdahl::checkpoint {
namespace {

// A shorter piece is not worth going around the caches for.
constexpr std::size_t kStreamedPieceMin = 16U << 10U;

}  // namespace

Scratch BufferPool::take() {
  const std::scoped_lock lock(mutex_);
  if (free_.empty()) return {};
  Scratch buffer = std::move(free_.back());
  free_.pop_back();
  return buffer;
}

void BufferPool::give_back(Scratch buffer) {
  const std::scoped_lock lock(mutex_);
  free_.push_back(std::move(buffer));
}

ObjectReader::ObjectReader(std::string name, ChunkSums sums, std::vector<Wanted> wanted)
    : name_(std::move(name)), sums_(std::move(sums)), wanted_(std::move(wanted)) {
  std::erase_if(wanted_, [](const Wanted& one) { return one.bytes == 0; });
  std::ranges::sort(wanted_, {}, &Wanted::begin);
  std::size_t bytes = 0;
  for (const Wanted& one : wanted_) {
    AMDAHL_CHECK(one.begin >= 0 && one.bytes > 0 && one.end() <= sums_.bytes);
    bytes += static_cast<std::size_t>(one.bytes);
  }
  streams_ = bytes >= kernels::kStreamingBytesMin;
  cut_into_units();
}

void ObjectReader::cut_into_units() {
  const std::int64_t step = std::max<std::int64_t>(kReadUnitBytes / sums_.chunk_bytes, 1);
  std::int64_t done = 0;  // chunks before it are in a unit
  for (const Wanted& one : wanted_) {
    const std::int64_t end = (one.end() - 1) / sums_.chunk_bytes + 1;
    done = std::max(done, one.begin / sums_.chunk_bytes);
    for (; done < end; done = units_.back().end_chunk) {
      // The unit before goes on up to its full size, so that small tensors share a request.
      if (!units_.empty() && units_.back().end_chunk == done &&
          units_.back().end_chunk - units_.back().first_chunk < step) {
        units_.back().end_chunk = std::min(units_.back().first_chunk + step, end);
      } else {
        units_.push_back({.first_chunk = done, .end_chunk = std::min(done + step, end)});
      }
    }
  }
  // Stretches may overlap when something is wanted twice, so ends are not in order.
  std::vector<std::int64_t> furthest;
  furthest.reserve(wanted_.size());
  for (const Wanted& one : wanted_)
    furthest.push_back(std::max(one.end(), furthest.empty() ? 0 : furthest.back()));
  for (Unit& unit : units_) {
    const auto first = std::ranges::upper_bound(furthest, unit.first_chunk * sums_.chunk_bytes);
    unit.first_wanted = static_cast<std::size_t>(first - furthest.begin());
  }
}

// Takes the bytes of a unit in their order: each to where it is wanted, and into the sum of its
// chunk.
class UnitReader {
 public:
  UnitReader(const ObjectReader& object, const ObjectReader::Unit& unit)
      : object_(object),
        at_(unit.first_chunk * object.sums_.chunk_bytes),
        first_(unit.first_wanted),
        chunk_(unit.first_chunk) {}

  void take(Bytes piece) {
    while (!piece.empty()) {
      const Bytes part = piece.first(up_to_next_change(piece.size()));
      copy_and_sum(part);
      at_ += static_cast<std::int64_t>(part.size());
      piece = piece.subspan(part.size());
      if (at_ == chunk_end()) close_chunk();
    }
  }

  // The words of a verifier, which would have found the same.
  Result<void> finish() const {
    if (bad_chunks_ == 0) return {};
    return bad_chunk(object_.name_, object_.sums_, first_bad_, bad_chunks_);
  }

 private:
  std::int64_t chunk_end() const {
    return std::min((chunk_ + 1) * object_.sums_.chunk_bytes, object_.sums_.bytes);
  }

  // How far the same stretches want what comes, within a chunk; `here_` has those stretches.
  std::size_t up_to_next_change(std::size_t bytes) {
    std::int64_t end = std::min(at_ + static_cast<std::int64_t>(bytes), chunk_end());
    const auto& wanted = object_.wanted_;
    while (first_ < wanted.size() && wanted[first_].end() <= at_) ++first_;
    here_.clear();
    for (std::size_t i = first_; i < wanted.size(); ++i) {
      if (wanted[i].begin > at_) {
        end = std::min(end, wanted[i].begin);
        break;
      }
      if (wanted[i].end() <= at_) continue;
      end = std::min(end, wanted[i].end());
      here_.push_back(wanted[i].to + (at_ - wanted[i].begin));
    }
    return static_cast<std::size_t>(end - at_);
  }

  void copy_and_sum(Bytes part) {
    if (!object_.sums_.sha256.empty()) sha256_.add(part);
    if (here_.empty()) {
      crc_ = kernels::crc32c(part, crc_);
      return;
    }
    const kernels::Row& row = kernels::active_row();
    const bool streams = object_.streams_ && part.size() >= kStreamedPieceMin;
    crc_ = (streams ? row.stream_crc32c : row.copy_crc32c)(
        crc_, kernels::raw(kernels::MutableBytes(here_[0], part.size())), kernels::raw(part),
        part.size());
    for (std::size_t i = 1; i < here_.size(); ++i) std::memcpy(here_[i], part.data(), part.size());
  }

  void close_chunk() {
    const auto index = static_cast<std::size_t>(chunk_);
    const ChunkSums& sums = object_.sums_;
    bool same = crc_ == sums.crc32c[index];
    if (!sums.sha256.empty()) same &= sha256_.finish() == sums.sha256[index];
    if (!same && bad_chunks_++ == 0) first_bad_ = chunk_;
    crc_ = 0;
    ++chunk_;
  }

  const ObjectReader& object_;
  std::int64_t at_;
  std::size_t first_;  // stretches before it have ended
  std::int64_t chunk_;
  std::vector<std::byte*> here_;  // where the next bytes go
  std::uint32_t crc_ = 0;
  Sha256 sha256_;
  std::int64_t bad_chunks_ = 0;
  std::int64_t first_bad_ = 0;
};

Result<void> ObjectReader::read(Store& store, const Unit& unit, BufferPool& buffers,
                                const StoreCall& call) const {
  const std::int64_t begin = unit.first_chunk * sums_.chunk_bytes;
  const std::int64_t end = std::min(unit.end_chunk * sums_.chunk_bytes, sums_.bytes);
  UnitReader reader(*this, unit);
  Scratch buffer = buffers.take();
  auto done = store.read_through(
      name_, {.begin = begin, .bytes = end - begin}, buffer,
      [&](Bytes piece) { reader.take(piece); }, call);
  buffers.give_back(std::move(buffer));
  TRY(std::move(done));
  return reader.finish();
}

}  // namespace amdahl::checkpoint
