// Many writes at once, but not too many.
#pragma once

#include <cstddef>
#include <functional>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace amdahl::training {

inline constexpr std::size_t kPodWritesMax = 32;  // of one job, in flight

// Does make(0) to make(count - 1), kPodWritesMax at a time. Returns when all that began has ended;
// after the first error, which is the result, nothing new begins. `make` and what it refers to
// outlive the call; it must not be a coroutine itself.
Task<Result<void>> in_parallel(Clock& clock, std::size_t count,
                               std::function<Task<Result<void>>(std::size_t)> make);

}  // namespace amdahl::training
