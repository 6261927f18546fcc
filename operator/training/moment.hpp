// One moment by both clocks of a process.
//
// What a process has seen is kept by its monotonic clock, because somebody may set the other one.
// Decisions and people read wall times: at() says when something was, by the wall clock of this
// moment, so that the time since then is what the process has itself waited. Plain value.
#pragma once

#include "base/clock.hpp"

namespace amdahl::training {

struct Moment {
  Monotonic steady{};
  WallTime wall{};

  WallTime at(Monotonic then) const {
    return wall - std::chrono::round<WallTime::duration>(steady - then);
  }
};
inline Moment moment_of(const Clock& clock) {
  return {.steady = clock.monotonic(), .wall = clock.wall()};
}

}  // namespace amdahl::training
