// What happened in a run: always as a hash, as text on request.
//
// Two runs of the same seed have the same hash, or the simulation is not deterministic.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace amdahl::simulation {

class Trace {
 public:
  explicit Trace(bool keep_lines) : keep_lines_(keep_lines) {}

  // Text is made only when it is kept; the hash is of what it would be made from.
  template <class... Args>
  void add(Monotonic now, fmt::format_string<Args...> format, Args&&... args) {
    const std::int64_t us =
        std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
    mix(us);
    mix(fmt::string_view(format));
    (mix(args), ...);
    if (!keep_lines_) return;
    lines_.push_back(fmt::format("{:>6}.{:06} ", us / 1'000'000, us % 1'000'000) +
                     fmt::format(format, std::forward<Args>(args)...));
  }
  std::uint64_t hash() const { return hash_; }
  std::vector<std::string> take_lines() { return std::move(lines_); }

 private:
  // FNV-1a: the same on every machine.
  void mix_byte(unsigned char byte) { hash_ = (hash_ ^ byte) * 1'099'511'628'211ULL; }
  void mix(fmt::string_view text) {
    for (const char c : text) mix_byte(static_cast<unsigned char>(c));
    mix_byte(0);  // so that no byte can change sides
  }
  template <std::integral Number>
  void mix(Number number) {
    for (auto rest = static_cast<std::uint64_t>(number); rest != 0; rest >>= 8U)
      mix_byte(static_cast<unsigned char>(rest));
    mix_byte(0);
  }

  bool keep_lines_;
  std::uint64_t hash_ = 14'695'981'039'346'656'037ULL;
  std::vector<std::string> lines_;
};

}  // namespace amdahl::simulation
