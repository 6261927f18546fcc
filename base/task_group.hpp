// The tasks somebody started and must wait for, and the loops that drive them in tests and mains.
//
// co_spawn is called here, in main.cpp files and in tests, and nowhere else: a task that nobody
// waits for outlives what it refers to.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"

namespace amdahl {

// One running task. stop() asks it to end: its present await fails, and so does every later one;
// asking again changes nothing. A task that was stopped before its first instruction never runs.
class RunningTask {
 public:
  using OnEnd = std::function<void(std::exception_ptr)>;

  // The task begins at once when the caller is on the executor's thread, so it may have ended when
  // this returns; on_end is called when its frame is gone, with null if it ended by itself.
  static std::shared_ptr<RunningTask> start(boost::asio::any_io_executor executor, Task<void> task,
                                            OnEnd on_end);
  void stop();
  bool ended() const { return phase_ == Phase::kEnded; }

 private:
  enum class Phase : std::uint8_t { kCreated, kRunning, kEnded };
  static Task<void> drive(std::shared_ptr<RunningTask> self, Task<void> task, OnEnd on_end);

  boost::asio::cancellation_signal signal_;
  Phase phase_ = Phase::kCreated;
  bool stopped_ = false;
};

// Whether a task ended because it was stopped, and not because of a bug.
bool is_cancellation(const std::exception_ptr& failure);

// Purpose: owns tasks that run beside their owner. Thread: one. Lifetime: must be empty when it
// dies, so stop() and join() come first; the io_context outlives it. Failure: a task that ends
// with an exception other than cancellation is a bug and stops the process, with the task's name.
class TaskGroup {
 public:
  using Id = std::uint64_t;

  explicit TaskGroup(boost::asio::any_io_executor executor);
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Begins on the next turn of the loop, never inside this call. After stop() nothing begins.
  Id spawn(std::string name, Task<void> task);
  void stop();       // terminal cancellation to all
  void stop(Id id);  // to one; nothing happens when it has ended
  // True when all have ended; false at the deadline or when the caller was cancelled.
  Task<bool> join(Clock& clock, Monotonic deadline);

  bool empty() const;
  std::size_t size() const;
  bool stopping() const;
  std::vector<std::string> running() const;
  const boost::asio::any_io_executor& executor() const { return executor_; }

 private:
  struct State;
  boost::asio::any_io_executor executor_;
  std::shared_ptr<State> state_;
};

struct RunLimits {
  std::chrono::milliseconds wall{30'000};   // real time; zero: none
  std::uint64_t advances_max = 10'000'000;  // run_simulated: moves of the clock
};

namespace detail {
void run_io(boost::asio::io_context& io, Task<void> task, RunLimits limits);
void run_io_simulated(boost::asio::io_context& io, ManualClock& clock, Task<void> task,
                      RunLimits limits);

template <class T>
Task<void> store(Task<T> task, std::optional<T>& into) {
  into.emplace(co_await std::move(task));
}
}  // namespace detail

// Runs the loop until the task has ended. Past the limit, or with nothing left to do, it stops the
// process: a test that hangs should say so.
template <class T>
T run_until_complete(boost::asio::io_context& io, Task<T> task, RunLimits limits = {}) {
  if constexpr (std::is_void_v<T>) {
    detail::run_io(io, std::move(task), limits);
  } else {
    std::optional<T> result;
    detail::run_io(io, detail::store(std::move(task), result), limits);
    return std::move(*result);
  }
}

// The same in virtual time: when everybody waits, the clock moves to the next deadline. For tasks
// that wait for nothing but the clock and each other; sockets need run_until_complete.
template <class T>
T run_simulated(boost::asio::io_context& io, ManualClock& clock, Task<T> task,
                RunLimits limits = {}) {
  if constexpr (std::is_void_v<T>) {
    detail::run_io_simulated(io, clock, std::move(task), limits);
  } else {
    std::optional<T> result;
    detail::run_io_simulated(io, clock, detail::store(std::move(task), result), limits);
    return std::move(*result);
  }
}

}  // namespace amdahl
