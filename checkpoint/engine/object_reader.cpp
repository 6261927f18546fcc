#include "checkpoint/engine/object_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "checkpoint/format/verifier.hpp"
#include "kernels/crc32c.hpp"

namespace amdahl::checkpoint {

std::vector<std::byte> BufferPool::take(std::size_t bytes) {
  std::vector<std::byte> buffer;
  {
    const std::scoped_lock lock(mutex_);
    if (!free_.empty()) {
      buffer = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (buffer.size() < bytes) buffer.resize(bytes);
  return buffer;
}

void BufferPool::give_back(std::vector<std::byte> buffer) {
  const std::scoped_lock lock(mutex_);
  free_.push_back(std::move(buffer));
}

ObjectReader::ObjectReader(std::string name, ChunkSums sums, std::vector<Wanted> wanted)
    : name_(std::move(name)), sums_(std::move(sums)), wanted_(std::move(wanted)) {
  std::erase_if(wanted_, [](const Wanted& one) { return one.bytes == 0; });
  std::ranges::sort(wanted_, {}, &Wanted::begin);
  for (const Wanted& one : wanted_)
    AMDAHL_CHECK(one.begin >= 0 && one.bytes > 0 && one.end() <= sums_.bytes);
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

Result<void> ObjectReader::check(const Unit& unit, kernels::Bytes bytes) const {
  const auto chunk_bytes = static_cast<std::size_t>(sums_.chunk_bytes);
  for (std::int64_t chunk = unit.first_chunk; chunk < unit.end_chunk; ++chunk) {
    const auto at = static_cast<std::size_t>(chunk - unit.first_chunk) * chunk_bytes;
    const kernels::Bytes one = bytes.subspan(at, std::min(chunk_bytes, bytes.size() - at));
    if (kernels::crc32c(one) == sums_.crc32c[static_cast<std::size_t>(chunk)]) continue;
    Verifier verifier(name_, sums_, unit.first_chunk);  // for its words
    verifier.add(bytes);
    return verifier.finish_range();
  }
  return {};
}

Result<void> ObjectReader::read(Store& store, const Unit& unit, BufferPool& buffers,
                                const StoreCall& call) const {
  const std::int64_t begin = unit.first_chunk * sums_.chunk_bytes;
  const std::int64_t end = std::min(unit.end_chunk * sums_.chunk_bytes, sums_.bytes);
  const auto size = static_cast<std::size_t>(end - begin);
  const auto rest = std::span(wanted_).subspan(unit.first_wanted);
  const auto touches = [&](const Wanted& one) { return one.begin < end && one.end() > begin; };
  const auto after =
      std::ranges::find_if(rest, [&](const Wanted& one) { return one.begin >= end; });
  const auto here = rest.first(static_cast<std::size_t>(after - rest.begin()));
  if (here.size() == 1 && here[0].begin <= begin && here[0].end() >= end) {
    const std::span<std::byte> to(here[0].to + (begin - here[0].begin), size);
    TRY(store.read(name_, begin, to, call));
    return check(unit, to);
  }
  std::vector<std::byte> buffer = buffers.take(size);
  const auto fill = [&]() -> Result<void> {
    TRY(store.read(name_, begin, std::span(buffer).first(size), call));
    TRY(check(unit, std::span(buffer).first(size)));
    for (const Wanted& one : here) {
      if (!touches(one)) continue;
      const std::int64_t from = std::max(one.begin, begin);
      const std::int64_t to = std::min(one.end(), end);
      std::memcpy(one.to + (from - one.begin), buffer.data() + (from - begin),
                  static_cast<std::size_t>(to - from));
    }
    return {};
  };
  Result<void> filled = fill();
  buffers.give_back(std::move(buffer));
  return filled;
}

}  // namespace amdahl::checkpoint
