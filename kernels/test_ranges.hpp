// Memory for tests of kernels: ranges that end or begin exactly at a page that cannot be touched,
// and bytes that look random and never change.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "kernels/bytes.hpp"

namespace amdahl::kernels {

enum class Flush : std::uint8_t { kFront, kBack };  // which end of the range meets a guard page

class GuardedRange {
 public:
  GuardedRange(std::size_t size, Flush flush) : size_(size) {
    const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t inside = std::max<std::size_t>((size + page - 1) / page, 1) * page;
    mapped_ = inside + 2 * page;
    map_ = static_cast<std::byte*>(
        ::mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (map_ == MAP_FAILED || ::mprotect(map_ + page, inside, PROT_READ | PROT_WRITE) != 0)
      std::abort();
    start_ = map_ + page + (flush == Flush::kFront ? 0 : inside - size);
  }
  GuardedRange(const GuardedRange&) = delete;
  GuardedRange& operator=(const GuardedRange&) = delete;
  ~GuardedRange() { ::munmap(map_, mapped_); }

  MutableBytes bytes() { return {start_, size_}; }
  void fill(Bytes from) { std::ranges::copy(from, start_); }

 private:
  std::size_t size_;
  std::size_t mapped_ = 0;
  std::byte* map_ = nullptr;
  std::byte* start_ = nullptr;
};

// splitmix64: this folder may not use base/rng.hpp.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

inline std::vector<std::byte> noise(std::size_t size, std::uint64_t seed = 1) {
  Noise source(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(source.next() >> 56);
  return bytes;
}

inline bool same(Bytes a, Bytes b) {
  return std::ranges::equal(a, b);
}

// Every tail of a vector kernel, blocks around its unrolled loops, and whole pages.
inline std::vector<std::size_t> interesting_counts() {
  std::vector<std::size_t> counts;
  for (std::size_t n = 0; n <= 140; ++n) counts.push_back(n);
  for (std::size_t n : {191, 255, 256, 257, 511, 512, 513, 575, 1023, 1024, 1025, 1087, 2048, 4095,
                        4096, 4097, 5000})
    counts.push_back(n);
  return counts;
}

}  // namespace amdahl::kernels
