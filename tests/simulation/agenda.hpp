// What the world has to do, by virtual time: packets that arrive, pods that start, faults.
//
// Plain functions, no coroutines: a packet is on its way whether or not its sender still lives.
// Thread: one. Lifetime: what a function refers to outlives the agenda, or is held by the function.
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "base/clock.hpp"

namespace amdahl::simulation {

class Agenda {
 public:
  using Action = std::move_only_function<void()>;

  explicit Agenda(ManualClock& clock) : clock_(clock) {}

  Monotonic now() const { return clock_.monotonic(); }
  void at(Monotonic when, Action what) { entries_.emplace(std::max(when, now()), std::move(what)); }
  void in(std::chrono::nanoseconds delay, Action what) { at(now() + delay, std::move(what)); }
  Monotonic next() const { return entries_.empty() ? Monotonic::max() : entries_.begin()->first; }
  // What is due, in the order in which it was put in; also what that puts in for now.
  void run_due() {
    while (!entries_.empty() && entries_.begin()->first <= now()) {
      Action what = std::move(entries_.extract(entries_.begin()).mapped());
      what();
    }
  }
  void clear() { entries_.clear(); }

 private:
  ManualClock& clock_;
  std::multimap<Monotonic, Action> entries_;
};

}  // namespace amdahl::simulation
