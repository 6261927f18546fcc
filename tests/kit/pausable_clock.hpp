// A process that can be stopped and continued, as far as its code can tell: while it is paused no
// sleep of its own returns, yet time goes on (SIGSTOP, a frozen virtual machine).
//
// Thread: one. Lifetime: outlives every task that sleeps on it; `world` outlives it. Failure: as of
// the clock it wraps. Code that waits for anything else has to pass by sleep_until() when woken.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <utility>

#include "base/clock.hpp"
#include "base/deadline.hpp"

namespace amdahl::testkit {

class PausableClock final : public Clock {
 public:
  PausableClock(boost::asio::any_io_executor executor, Clock& world)
      : world_(world), resumed_(std::move(executor)) {}

  Monotonic monotonic() const override { return world_.monotonic(); }
  WallTime wall() const override { return world_.wall(); }
  Task<bool> sleep_until(Monotonic deadline) override {
    bool due = co_await world_.sleep_until(deadline);
    while (due && paused_) due = (co_await resumed_.wait(world_, Monotonic::max())).has_value();
    co_return due;
  }
  Task<bool> wait_until(Wakeup& wakeup, Monotonic deadline) override {
    bool due = co_await world_.wait_until(wakeup, deadline);
    while (due && paused_) due = (co_await resumed_.wait(world_, Monotonic::max())).has_value();
    co_return due;
  }

  void pause() { paused_ = true; }
  void resume() {
    paused_ = false;
    resumed_.notify_all();
  }

 private:
  Clock& world_;
  Notify resumed_;
  bool paused_ = false;
};

}  // namespace amdahl::testkit
