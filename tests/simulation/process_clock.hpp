// The clock of one simulated process: it can be frozen, and its wall clock can be set.
//
// While the process is frozen no sleep of its own returns, yet time goes on (SIGSTOP, a frozen
// virtual machine); code that waits for anything else passes by pass() when it is woken.
// Thread: one. Lifetime: `world` outlives it, and it outlives its sleepers. Failure: as Clock.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "base/clock.hpp"
#include "base/deadline.hpp"
#include "base/wakeup.hpp"

namespace amdahl::simulation {

class ProcessClock final : public Clock {
 public:
  ProcessClock(boost::asio::any_io_executor executor, ManualClock& world)
      : world_(world), resumed_(std::move(executor)) {}

  Monotonic monotonic() const override { return world_.monotonic(); }
  WallTime wall() const override { return world_.wall() + offset_; }
  Task<bool> sleep_until(Monotonic deadline) override {
    Wakeup nobody(co_await boost::asio::this_coro::executor);
    bool due = co_await world_.wait_until(nobody, deadline);
    while (due && frozen_) due = (co_await resumed_.wait(world_, Monotonic::max())).has_value();
    co_return due;
  }
  Task<bool> wait_until(Wakeup& wakeup, Monotonic deadline) override {
    bool due = co_await world_.wait_until(wakeup, deadline);
    while (due && frozen_) due = (co_await resumed_.wait(world_, Monotonic::max())).has_value();
    co_return due;
  }
  // What runs on without having slept passes by here: false when it was stopped while frozen.
  Task<bool> pass() { return sleep_for({}); }  // tidy: allow(ban-sleep) it is the clock itself

  void freeze() { frozen_ = true; }
  void resume() {
    frozen_ = false;
    resumed_.notify_all();
  }
  bool frozen() const { return frozen_; }
  void jump_wall(std::chrono::microseconds step) { offset_ += step; }

 private:
  ManualClock& world_;
  Notify resumed_;
  std::chrono::microseconds offset_{0};
  bool frozen_ = false;
};

}  // namespace amdahl::simulation
