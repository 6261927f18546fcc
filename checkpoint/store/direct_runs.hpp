// An object in pieces as writes that O_DIRECT takes: place, memory and length are multiples of
// kDirectAlignment.
//
// What lies in memory as it lies in the file is written from where it is; the rest, such as a head
// of odd length and the end of the object, goes through a buffer. The last run is filled up with
// zeros, and whoever writes cuts the file to size(). Pure. Thread: one. Lifetime: the pieces
// outlive it, and a run ends with the next call of next().
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>

#include "checkpoint/format/digest.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kDirectAlignment = 4096;
inline constexpr std::size_t kRunBytesMax = std::size_t{8} << 20U;
inline constexpr std::size_t kBounceBytes = std::size_t{4} << 20U;

std::int64_t size_of(std::span<const Bytes> pieces);

class DirectRuns {
 public:
  struct Run {
    std::int64_t at = 0;  // in the object
    Bytes bytes = {};
  };

  explicit DirectRuns(std::span<const Bytes> pieces);
  std::optional<Run> next();
  std::int64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  void skip_empty();
  std::size_t straight() const;
  Bytes bounce();

  std::span<const Bytes> pieces_;  // the first one without what was given already
  Bytes first_ = {};
  std::int64_t at_ = 0;
  std::int64_t size_ = 0;
  std::unique_ptr<std::byte, Free> buffer_;
};

}  // namespace amdahl::checkpoint
