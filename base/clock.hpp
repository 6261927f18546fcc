// Time, injected. Monotonic for intervals and deadlines, wall for what users see.
//
// Thread: RealClock may be shared; ManualClock belongs to one thread. Lifetime: a clock outlives
// every task that sleeps on it. Failure: sleep_until returns false when it was cancelled.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/task.hpp"

namespace amdahl {

using Monotonic = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

class Wakeup;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Monotonic monotonic() const = 0;
  virtual WallTime wall() const = 0;
  // True at the deadline; false if the waiting task was cancelled first.
  virtual Task<bool> sleep_until(Monotonic deadline) = 0;
  // The same, but somebody may wake the task before: then it is false too.
  virtual Task<bool> wait_until(Wakeup& wakeup, Monotonic deadline) = 0;
  Task<bool> sleep_for(std::chrono::nanoseconds delay) { return sleep_until(monotonic() + delay); }
};

class RealClock final : public Clock {
 public:
  Monotonic monotonic() const override;
  WallTime wall() const override;
  Task<bool> sleep_until(Monotonic deadline) override;
  Task<bool> wait_until(Wakeup& wakeup, Monotonic deadline) override;
};

// Stands still until told; for tests and simulation. Sleepers wake in deadline order, ties in the
// order they went to sleep.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(WallTime wall = WallTime{std::chrono::seconds{1'700'000'000}});
  Monotonic monotonic() const override { return now_; }
  WallTime wall() const override { return wall_; }
  Task<bool> sleep_until(Monotonic deadline) override;
  Task<bool> wait_until(Wakeup& wakeup, Monotonic deadline) override;

  void advance(std::chrono::nanoseconds step);     // both clocks; wakes who is due
  void jump_wall(std::chrono::microseconds step);  // somebody set the time; monotonic stays
  std::size_t sleepers() const { return sleepers_.size(); }
  // The earliest deadline somebody sleeps for; Monotonic::max() when nobody does.
  Monotonic next_deadline() const;

 private:
  struct Sleeper;
  Monotonic now_{};
  WallTime wall_;
  std::multimap<Monotonic, std::shared_ptr<Sleeper>> sleepers_;
};

// RFC 3339 as Kubernetes writes it: "2026-11-16T08:00:00Z" or with six digits of microseconds.
std::string format_time(WallTime time);
std::string format_micro_time(WallTime time);
Result<WallTime> parse_time(std::string_view text);

}  // namespace amdahl
