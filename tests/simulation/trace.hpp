// What happened in a run: always as a hash, as text on request.
//
// Two runs of the same seed have the same hash, or the simulation is not deterministic.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace amdahl::simulation {

class Trace {
 public:
  explicit Trace(bool keep_lines) : keep_lines_(keep_lines) {}

  template <class... Args>
  void add(Monotonic now, fmt::format_string<Args...> format, Args&&... args) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch());
    buffer_.clear();
    fmt::format_to(std::back_inserter(buffer_), "{:>13.6f} ",
                   static_cast<double>(us.count()) / 1e6);
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    // FNV-1a: the same on every machine.
    for (const char c : buffer_)
      hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 1'099'511'628'211ULL;
    if (keep_lines_) lines_.emplace_back(buffer_.data(), buffer_.size());
  }
  std::uint64_t hash() const { return hash_; }
  std::vector<std::string> take_lines() { return std::move(lines_); }

 private:
  bool keep_lines_;
  std::uint64_t hash_ = 14'695'981'039'346'656'037ULL;
  fmt::memory_buffer buffer_;
  std::vector<std::string> lines_;
};

}  // namespace amdahl::simulation
