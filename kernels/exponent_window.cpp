#include "kernels/exponent_window.hpp"

#include <algorithm>
#include <array>

namespace amdahl::kernels {
namespace {

constexpr std::size_t kSampleStep = 16;
constexpr unsigned kPlanesMax = 7;
constexpr unsigned kExceptionBits = 8;

// How often each exponent was seen in the sample, and where those that were seen lie.
struct Sample {
  std::array<std::uint16_t, 256> seen{};
  unsigned lowest = 255;
  unsigned highest = 0;
  unsigned total = 0;
};

Sample take_sample(const std::uint8_t* bf16, std::size_t values) {
  Sample sample;
  for (std::size_t i = 0; i < values; i += kSampleStep) {
    const unsigned exponent = (bf16[2 * i + 1] << 1 | bf16[2 * i] >> 7) & 0xFF;
    ++sample.seen[exponent];
    sample.lowest = std::min(sample.lowest, exponent);
    sample.highest = std::max(sample.highest, exponent);
    ++sample.total;
  }
  return sample;
}

struct Best {
  unsigned base = 0;
  unsigned inside = 0;
};

// The window of `width` exponents that holds most of the sample; the lowest of equals.
Best best_window(const Sample& sample, unsigned width) {
  unsigned inside = 0;
  for (unsigned e = sample.lowest; e < std::min(sample.lowest + width, 256U); ++e)
    inside += sample.seen[e];
  Best best{.base = sample.lowest, .inside = inside};
  for (unsigned base = sample.lowest + 1; base + width - 1 <= sample.highest; ++base) {
    inside += sample.seen[base + width - 1];
    inside -= sample.seen[base - 1];
    if (inside > best.inside) best = {.base = base, .inside = inside};
  }
  return best;
}

}  // namespace

ExponentWindow choose_exponent_window(const std::uint8_t* bf16, std::size_t values) {
  const Sample sample = take_sample(bf16, values);
  ExponentWindow chosen;
  unsigned cheapest = 8 * sample.total;  // of exponents as they are
  for (unsigned planes = 1; planes <= kPlanesMax; ++planes) {
    const Best best = best_window(sample, (1U << planes) - 1);
    const unsigned cost = planes * sample.total + kExceptionBits * (sample.total - best.inside);
    if (cost < cheapest) {
      cheapest = cost;
      chosen = {.base = static_cast<std::uint8_t>(best.base),
                .planes = static_cast<std::uint8_t>(planes)};
    }
    if (best.inside == sample.total) break;  // more planes only cost more
  }
  return chosen;
}

}  // namespace amdahl::kernels
