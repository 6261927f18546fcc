// Waiting with an end: a deadline around a task, a condition, a bound on what is in flight.
//
// Thread: one io_context, one thread. Lifetime: the io_context outlives Notify and Semaphore; both
// may die before the tasks that wait on them are destroyed. Failure: Errc::kTimeout at the
// deadline, Errc::kCancelled when the waiting task was stopped (Q6).
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace amdahl {

namespace detail {

enum class RaceEnd : std::uint8_t { kFinished, kDeadline, kCancelled };
struct Race {
  RaceEnd end = RaceEnd::kFinished;
  std::exception_ptr failure;  // what the task threw, cancellation included
};

// Runs the task and stops it at the deadline or when the caller is stopped; returns when the task
// has ended, never earlier. A task that ends at once costs no timer.
Task<Race> race(Clock& clock, Monotonic deadline, Task<void> task);
// The error of a race that gave no value; `cause` is what the task itself returned, if it did.
Error race_error(const Race& race, std::string_view context, const Error* cause);

template <class T>
Task<void> capture(Task<Result<T>> task, std::optional<Result<T>>& into) {
  into.emplace(co_await std::move(task));
}

}  // namespace detail

// The task's own result if it has one in time. `context` begins the text of our own errors. A task
// that throws anything but cancellation has a bug, and the exception goes on.
template <class T>
Task<Result<T>> with_deadline(Clock& clock, Monotonic deadline, Task<Result<T>> task,
                              std::string context) {
  std::optional<Result<T>> result;  // race() outlives the task, so the task may refer to this frame
  const detail::Race race =
      co_await detail::race(clock, deadline, detail::capture(std::move(task), result));
  if (result && (*result || race.end == detail::RaceEnd::kFinished)) co_return std::move(*result);
  co_return std::unexpected<Error>(
      detail::race_error(race, context, result ? &result->error() : nullptr));
}

// A condition: waiters look at their own predicate again after every return.
class Notify {
 public:
  explicit Notify(boost::asio::any_io_executor executor);
  void notify_all();  // wakes who waits now; nothing is remembered for later
  Task<Result<void>> wait(Clock& clock, Monotonic deadline);

 private:
  struct State;
  static Task<Result<void>> next(std::shared_ptr<State> state, Clock& clock, Monotonic deadline);
  std::shared_ptr<State> state_;
};

// Bounds what is in flight; first come, first served.
class Semaphore {
  struct State;

 public:
  static constexpr std::size_t kWaitersMax = 65'536;

  // The right to be one of the few; given back when it dies.
  class Permit {
   public:
    Permit(Permit&& other) noexcept : state_(std::move(other.state_)) {}
    Permit& operator=(Permit&& other) noexcept;
    ~Permit() { release(); }
    void release();

   private:
    friend class Semaphore;
    explicit Permit(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
  };

  Semaphore(boost::asio::any_io_executor executor, std::size_t permits,
            std::size_t waiters_max = kWaitersMax);
  // Errc::kTooLarge when the line of waiters is full.
  Task<Result<Permit>> acquire(Clock& clock, Monotonic deadline);
  std::optional<Permit> try_acquire();
  std::size_t available() const;
  std::size_t waiting() const;

 private:
  struct Waiter;
  static Task<Result<Permit>> acquire_from(std::shared_ptr<State> state, Clock& clock,
                                           Monotonic deadline);
  std::shared_ptr<State> state_;
};

}  // namespace amdahl
