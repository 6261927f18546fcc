// Waiting between two looks at a store, injected: threads block here, and tests do not.
//
// Thread: any. Failure: false when the wait was stopped before its end.
#pragma once

#include <chrono>
#include <stop_token>

namespace amdahl::checkpoint {

class Waiter {
 public:
  virtual ~Waiter() = default;
  virtual bool wait(std::chrono::nanoseconds time, const std::stop_token& stop) = 0;
};

class RealWaiter final : public Waiter {
 public:
  bool wait(std::chrono::nanoseconds time, const std::stop_token& stop) override;
};

}  // namespace amdahl::checkpoint
