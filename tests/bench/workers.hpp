// Numbers 0, 1, 2, ... handed out to a few tasks at a time, until all are used up or one failed.
//
// Thread: one. Lifetime: outlives run(); clock and group outlive it. Failure: the first error of a
// step ends the handing out and is what run() returns.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "base/task_group.hpp"

namespace amdahl::bench {

inline constexpr std::chrono::hours kRunMax{1};

class Workers {
 public:
  using Step = std::function<Task<Result<void>>(std::int64_t number)>;

  Workers(Clock& clock, TaskGroup& group) : clock_(clock), group_(group) {}

  // `at_once` tasks, each with one number under way.
  Task<Result<void>> run(std::int64_t count, std::int64_t at_once, Step step);

 private:
  Task<void> work();

  Clock& clock_;
  TaskGroup& group_;
  Step step_;
  std::int64_t next_ = 0;
  std::int64_t count_ = 0;
  std::optional<Error> failure_;
};

}  // namespace amdahl::bench
