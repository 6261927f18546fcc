#include "base/deadline.hpp"

#include <boost/asio/this_coro.hpp>
#include <boost/intrusive/list.hpp>
#include <list>

#include "base/check.hpp"
#include "base/task_group.hpp"
#include "base/wakeup.hpp"

namespace amdahl {
namespace asio = boost::asio;
namespace intrusive = boost::intrusive;
namespace {

// What the racing task and the waiting coroutine share.
struct RaceState {
  explicit RaceState(const asio::any_io_executor& executor) : wake(executor) {}

  Wakeup wake;
  bool task_ended = false;
  std::exception_ptr failure;
};

}  // namespace

namespace detail {

Task<Race> race(Clock& clock, Monotonic deadline, Task<void> task) {
  const auto stopped = co_await asio::this_coro::cancellation_state;
  if (stopped.cancelled() != asio::cancellation_type::none) co_return Race{RaceEnd::kCancelled, {}};
  if (deadline <= clock.monotonic()) co_return Race{RaceEnd::kDeadline, {}};
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto state = std::make_shared<RaceState>(executor);
  const auto running =
      RunningTask::start(executor, std::move(task), [state](std::exception_ptr failure) {
        state->task_ended = true;
        state->failure = std::move(failure);
        state->wake.wake();
      });
  if (state->task_ended) co_return Race{RaceEnd::kFinished, state->failure};

  // From here on being stopped is a value: the task must have ended before this frame goes.
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  Race race;
  const bool due = co_await clock.wait_until(state->wake, deadline);
  if (!state->task_ended) {
    race.end = due ? RaceEnd::kDeadline : RaceEnd::kCancelled;
    running->stop();
  }
  while (!state->task_ended) co_await state->wake.wait();
  co_await asio::this_coro::throw_if_cancelled(throws);
  race.failure = state->failure;
  co_return race;
}

Error race_error(const Race& race, std::string_view context, const Error* cause) {
  if (race.failure && !is_cancellation(race.failure)) std::rethrow_exception(race.failure);
  const bool expired = race.end == RaceEnd::kDeadline;
  std::string text = fmt::format("{}: {}", context, expired ? "deadline passed" : "cancelled");
  if (cause) text += fmt::format(" ({})", cause->context);
  return Error{.code = expired ? Errc::kTimeout : Errc::kCancelled, .context = std::move(text)};
}

}  // namespace detail

namespace {

struct NotifyWaiter : intrusive::list_base_hook<intrusive::link_mode<intrusive::auto_unlink>> {
  explicit NotifyWaiter(const asio::any_io_executor& executor) : wakeup(executor) {}
  Wakeup wakeup;
};

}  // namespace

struct Notify::State {
  asio::any_io_executor executor;
  intrusive::list<NotifyWaiter, intrusive::constant_time_size<false>> waiters;
  std::uint64_t generation = 0;
};

Notify::Notify(asio::any_io_executor executor)
    : state_(std::make_shared<State>(std::move(executor))) {}

void Notify::notify_all() {
  ++state_->generation;
  while (!state_->waiters.empty()) {
    NotifyWaiter& first = state_->waiters.front();
    state_->waiters.pop_front();
    first.wakeup.wake();
  }
}

Task<Result<void>> Notify::next(std::shared_ptr<State> state, Clock& clock, Monotonic deadline) {
  const std::uint64_t before = state->generation;
  NotifyWaiter waiter(state->executor);
  state->waiters.push_back(waiter);
  const bool due = co_await clock.wait_until(waiter.wakeup, deadline);
  if (state->generation != before) co_return Result<void>{};
  if (due) co_return fail(Errc::kTimeout, "wait: deadline passed");
  co_return fail(Errc::kCancelled, "wait: cancelled");
}

Task<Result<void>> Notify::wait(Clock& clock, Monotonic deadline) {
  return next(state_, clock, deadline);
}

struct Semaphore::Waiter {
  explicit Waiter(const asio::any_io_executor& executor) : wakeup(executor) {}

  Wakeup wakeup;
  bool granted = false;
};

struct Semaphore::State {
  asio::any_io_executor executor;
  std::size_t available = 0;
  std::size_t waiters_max = 0;
  std::list<std::shared_ptr<Waiter>> waiters;
};

Semaphore::Semaphore(asio::any_io_executor executor, std::size_t permits, std::size_t waiters_max)
    : state_(std::make_shared<State>(executor, permits, waiters_max)) {
  AMDAHL_CHECK(permits > 0);
}

void Semaphore::Permit::release() {
  if (!state_) return;
  const std::shared_ptr<State> state = std::move(state_);
  if (state->waiters.empty()) {
    ++state->available;
    return;
  }
  const std::shared_ptr<Waiter> first = std::move(state->waiters.front());
  state->waiters.pop_front();
  first->granted = true;
  first->wakeup.wake();
}

Semaphore::Permit& Semaphore::Permit::operator=(Permit&& other) noexcept {
  if (this == &other) return *this;
  release();
  state_ = std::move(other.state_);
  return *this;
}

std::optional<Semaphore::Permit> Semaphore::try_acquire() {
  if (state_->available == 0) return std::nullopt;
  --state_->available;
  return Permit(state_);
}

Task<Result<Semaphore::Permit>> Semaphore::acquire_from(std::shared_ptr<State> state, Clock& clock,
                                                        Monotonic deadline) {
  // Nobody can wait while a permit is free: release() hands it on directly.
  if (state->available > 0) {
    --state->available;
    co_return Permit(state);
  }
  if (state->waiters.size() >= state->waiters_max)
    co_return fail(Errc::kTooLarge, "acquire: {} already wait", state->waiters.size());
  const auto waiter = std::make_shared<Waiter>(state->executor);
  const auto place = state->waiters.insert(state->waiters.end(), waiter);
  const bool due = co_await clock.wait_until(waiter->wakeup, deadline);
  if (waiter->granted) co_return Permit(state);
  state->waiters.erase(place);
  if (due) co_return fail(Errc::kTimeout, "acquire: deadline passed");
  co_return fail(Errc::kCancelled, "acquire: cancelled");
}

Task<Result<Semaphore::Permit>> Semaphore::acquire(Clock& clock, Monotonic deadline) {
  return acquire_from(state_, clock, deadline);
}

std::size_t Semaphore::available() const {
  return state_->available;
}
std::size_t Semaphore::waiting() const {
  return state_->waiters.size();
}

}  // namespace amdahl
