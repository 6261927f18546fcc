#include "checkpoint/engine/snapshot_copy.hpp"

#include <algorithm>
#include <cstdint>

#include "base/check.hpp"
#include "checkpoint/engine/workers.hpp"
#include "kernels/crc32c.hpp"

namespace amdahl::checkpoint {
namespace {

// Chunks that one thread takes at a time: long stretches, so that reading ahead works.
constexpr std::int64_t kStretchBytes = std::int64_t{16} << 20U;
// A shorter piece is not worth going around the caches for.
constexpr std::size_t kStreamedPieceMin = 16U << 10U;

struct Stretch {
  std::size_t object = 0;
  std::int64_t first_chunk = 0;
  std::int64_t end_chunk = 0;
};

class Copier {
 public:
  explicit Copier(const CopyJob& job)
      : job_(job), streams_(job.plan.memory_bytes >= std::int64_t{kernels::kStreamingBytesMin}) {
    for (const PlannedObject& object : job.plan.objects) {
      const std::int64_t bytes = object.layout.header.object_bytes;
      ChunkSums& sums = sums_.emplace_back();
      sums.bytes = bytes;
      sums.chunk_bytes = job.plan.chunk_bytes;
      const std::int64_t chunks = chunk_count(bytes, sums.chunk_bytes);
      sums.crc32c.resize(static_cast<std::size_t>(chunks));
      const std::int64_t step = std::max<std::int64_t>(kStretchBytes / sums.chunk_bytes, 1);
      for (std::int64_t at = 0; at < chunks; at += step)
        stretches_.push_back({.object = sums_.size() - 1,
                              .first_chunk = at,
                              .end_chunk = std::min(at + step, chunks)});
    }
  }

  std::vector<ChunkSums> run() && {
    const auto copied = run_on_workers(stretches_.size(), job_.threads, [&](std::size_t i) {
      copy(stretches_[i]);
      return Result<void>();
    });
    AMDAHL_CHECK(copied.has_value());
    return std::move(sums_);
  }

 private:
  void copy(const Stretch& stretch) {
    const PlannedObject& object = job_.plan.objects[stretch.object];
    ChunkSums& sums = sums_[stretch.object];
    const bool sum_only = !job_.sum_only.empty() && job_.sum_only[stretch.object];
    for (std::int64_t chunk = stretch.first_chunk; chunk < stretch.end_chunk; ++chunk) {
      const std::int64_t begin = chunk * sums.chunk_bytes;
      const std::int64_t end = std::min(begin + sums.chunk_bytes, sums.bytes);
      sums.crc32c[static_cast<std::size_t>(chunk)] = copy_range(object, begin, end, sum_only);
    }
  }

  // Bytes of an object, which lie in its header and in tensors of the trainer.
  std::uint32_t copy_range(const PlannedObject& object, std::int64_t begin, std::int64_t end,
                           bool sum_only) {
    std::uint32_t crc = 0;
    const auto header_bytes = static_cast<std::int64_t>(object.layout.bytes.size());
    std::int64_t at = begin;
    if (at < header_bytes) {
      const auto* header = reinterpret_cast<const std::byte*>(object.layout.bytes.data());
      const std::int64_t stop = std::min(end, header_bytes);
      crc = copy_piece(object.begin + at, header + at, stop - at, crc, sum_only);
      at = stop;
    }
    const auto& places = object.layout.header.tensors;
    auto place = std::ranges::upper_bound(places, at, {}, &HeaderTensor::end);
    for (; at < end; ++place) {
      const auto tensor = object.tensors[static_cast<std::size_t>(place - places.begin())];
      const std::int64_t stop = std::min(end, place->end);
      crc = copy_piece(object.begin + at, job_.tensors[tensor] + (at - place->begin), stop - at,
                       crc, sum_only);
      at = stop;
    }
    return crc;
  }

  std::uint32_t copy_piece(std::int64_t to, const std::byte* from, std::int64_t bytes,
                           std::uint32_t crc, bool sum_only) const {
    const auto size = static_cast<std::size_t>(bytes);
    if (size == 0) return crc;
    if (sum_only) return kernels::crc32c({from, size}, crc);
    const kernels::Row& row = kernels::active_row();
    const auto copy = streams_ && size >= kStreamedPieceMin ? row.stream_crc32c : row.copy_crc32c;
    return copy(crc, kernels::raw(job_.memory.subspan(static_cast<std::size_t>(to), size)),
                kernels::raw(kernels::Bytes(from, size)), size);
  }

  const CopyJob& job_;
  bool streams_;
  std::vector<ChunkSums> sums_;
  std::vector<Stretch> stretches_;
};

}  // namespace

std::vector<ChunkSums> copy_tensors(const CopyJob& job) {
  AMDAHL_CHECK(job.tensors.size() == job.plan.specs.size());
  return Copier(job).run();
}

}  // namespace amdahl::checkpoint
