// A token bucket as a value: `rate` tokens a second, at most `burst` saved up.
//
// Pure; the caller brings the time. Failure: none; a clock that stands still earns nothing.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"

namespace amdahl::controller {

class TokenBucket {
 public:
  TokenBucket(double rate_per_second, double burst, Monotonic now)
      : rate_(rate_per_second), burst_(burst), tokens_(burst), filled_at_(now) {}

  // Takes a token if there is one.
  bool try_take(Monotonic now) {
    fill(now);
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

  // Takes a token in any case and says how long to wait before using it. The debt is bounded:
  // nobody waits longer than `wait_max`, whoever emptied the bucket.
  std::chrono::nanoseconds reserve(Monotonic now, std::chrono::nanoseconds wait_max) {
    fill(now);
    const double floor = -rate_ * std::chrono::duration<double>(wait_max).count();
    tokens_ = std::max(tokens_ - 1, floor);
    if (tokens_ >= 0) return std::chrono::nanoseconds::zero();
    const std::chrono::duration<double> wait{-tokens_ / rate_};
    return std::min(std::chrono::duration_cast<std::chrono::nanoseconds>(wait), wait_max);
  }

  bool full(Monotonic now) {
    fill(now);
    return tokens_ >= burst_;
  }

 private:
  void fill(Monotonic now) {
    if (now <= filled_at_) return;
    tokens_ += rate_ * std::chrono::duration<double>(now - filled_at_).count();
    tokens_ = std::min(tokens_, burst_);
    filled_at_ = now;
  }

  double rate_;
  double burst_;
  double tokens_;
  Monotonic filled_at_;
};

}  // namespace amdahl::controller
