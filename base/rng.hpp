// Seeded randomness with our own distributions, so that a seed replays the same run anywhere.
//
// Thread: one. Not for secrets: use OpenSSL's RAND_bytes for those.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace amdahl {

class Rng {
 public:
  explicit Rng(std::uint64_t seed);
  std::uint64_t next();                      // 64 uniform bits
  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound), bound > 0
  double unit();                             // uniform in [0, 1)
  bool chance(double probability) { return unit() < probability; }
  // base, plus up to factor * base: the jitter of Kubernetes' wait package.
  std::chrono::nanoseconds jitter(std::chrono::nanoseconds base, double factor);
  // Lower-case letters and digits without vowels, as Kubernetes makes suffixes.
  std::string suffix(std::size_t length);
  Rng split();  // an independent stream

 private:
  std::uint64_t state_[4];
};

}  // namespace amdahl
