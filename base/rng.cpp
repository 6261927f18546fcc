#include "base/rng.hpp"

#include <bit>

#include "base/check.hpp"

namespace amdahl {
namespace {

// splitmix64, the generator that xoshiro's authors recommend for filling its state.
std::uint64_t splitmix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace

Rng::Rng(std::uint64_t seed) {
  for (std::uint64_t& word : state_) word = splitmix(seed);
}

// xoshiro256**.
std::uint64_t Rng::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Rng::below(std::uint64_t bound) {
  AMDAHL_CHECK(bound > 0);
  // Values under the threshold would make small results likelier; they are drawn again.
  const std::uint64_t threshold = (0 - bound) % bound;
  for (;;) {
    const std::uint64_t value = next();
    if (value >= threshold) return value % bound;
  }
}

double Rng::unit() {
  return static_cast<double>(next() >> 11U) * 0x1.0p-53;
}

std::chrono::nanoseconds Rng::jitter(std::chrono::nanoseconds base, double factor) {
  const double extra = static_cast<double>(base.count()) * factor * unit();
  return base + std::chrono::nanoseconds{static_cast<std::int64_t>(extra)};
}

std::string Rng::suffix(std::size_t length) {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string text(length, ' ');
  for (char& c : text) c = kAlphabet[below(kAlphabet.size())];
  return text;
}

Rng Rng::split() {
  return Rng(next());
}

}  // namespace amdahl
