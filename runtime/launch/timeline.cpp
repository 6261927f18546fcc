#include "runtime/launch/timeline.hpp"

#include <algorithm>

namespace amdahl::launch {

void Timeline::settle(Monotonic now) {
  const auto passed = std::max(now - last_, std::chrono::nanoseconds{0});
  spans_[static_cast<std::size_t>(phase_)] += passed;
  open_ += passed;
  last_ = std::max(last_, now);
}

void Timeline::enter(ReportPhase phase, Monotonic now) {
  settle(now);
  phase_ = phase;
  open_ = {};
}

void Timeline::claim(ReportPhase phase, std::chrono::nanoseconds part, Monotonic now) {
  settle(now);
  const auto moved = std::clamp(part, std::chrono::nanoseconds{0}, open_);
  spans_[static_cast<std::size_t>(phase_)] -= moved;
  spans_[static_cast<std::size_t>(phase)] += moved;
  open_ = {};
}

Timeline::Spans Timeline::spans(Monotonic now) const {
  Timeline copy = *this;
  copy.settle(now);
  return copy.spans_;
}

}  // namespace amdahl::launch
