#include "base/deadline.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <list>

#include "base/check.hpp"
#include "base/task_group.hpp"

namespace amdahl {
namespace asio = boost::asio;
namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

// A timer that never fires by itself is Asio's condition variable.
asio::steady_timer never(const asio::any_io_executor& executor) {
  return asio::steady_timer(executor, asio::steady_timer::time_point::max());
}

// What the racing task, the timer and the waiting coroutine share.
struct RaceState {
  std::optional<asio::steady_timer> wake;
  bool task_ended = false;
  bool timer_ended = true;
  bool expired = false;
  std::exception_ptr failure;

  void woken() {
    if (wake) wake->cancel();
  }
};

Task<void> sleep_then_expire(Clock& clock, Monotonic deadline, std::shared_ptr<RaceState> state) {
  state->expired = co_await clock.sleep_until(deadline);
}

std::shared_ptr<RunningTask> start_timer(const asio::any_io_executor& executor, Clock& clock,
                                         Monotonic deadline,
                                         const std::shared_ptr<RaceState>& state) {
  state->timer_ended = false;
  return RunningTask::start(executor, sleep_then_expire(clock, deadline, state),
                            [state](const std::exception_ptr&) {
                              state->timer_ended = true;
                              state->woken();
                            });
}

}  // namespace

namespace detail {

Task<Race> race(Clock& clock, Monotonic deadline, Task<void> task) {
  const auto stopped = co_await asio::this_coro::cancellation_state;
  if (stopped.cancelled() != asio::cancellation_type::none) co_return Race{RaceEnd::kCancelled, {}};
  if (deadline <= clock.monotonic()) co_return Race{RaceEnd::kDeadline, {}};
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto state = std::make_shared<RaceState>();
  const auto running =
      RunningTask::start(executor, std::move(task), [state](std::exception_ptr failure) {
        state->task_ended = true;
        state->failure = std::move(failure);
        state->woken();
      });
  if (state->task_ended) co_return Race{RaceEnd::kFinished, state->failure};

  state->wake.emplace(never(executor));
  std::shared_ptr<RunningTask> timer;
  if (deadline != Monotonic::max()) timer = start_timer(executor, clock, deadline, state);
  // From here on being stopped is a value: the task must have ended before this frame goes.
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  Race race;
  while (!state->task_ended || !state->timer_ended) {
    (void)co_await state->wake->async_wait(kTuple);
    const auto now = co_await asio::this_coro::cancellation_state;
    if (state->task_ended) {
      if (!state->timer_ended) timer->stop();
    } else if (race.end == RaceEnd::kFinished) {
      if (now.cancelled() != asio::cancellation_type::none) race.end = RaceEnd::kCancelled;
      if (state->expired) race.end = RaceEnd::kDeadline;
      if (race.end != RaceEnd::kFinished) running->stop();
    }
  }
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

struct Notify::State {
  asio::steady_timer timer;
  std::uint64_t generation = 0;
};

Notify::Notify(asio::any_io_executor executor) : state_(std::make_shared<State>(never(executor))) {}

void Notify::notify_all() {
  ++state_->generation;
  state_->timer.cancel();
}

Task<Result<void>> Notify::next(std::shared_ptr<State> state) {
  const std::uint64_t before = state->generation;
  (void)co_await state->timer.async_wait(kTuple);
  if (state->generation == before) co_return fail(Errc::kCancelled, "cancelled");
  co_return Result<void>{};
}

Task<Result<void>> Notify::wait(Clock& clock, Monotonic deadline) {
  return with_deadline(clock, deadline, next(state_), "wait");
}

struct Semaphore::Waiter {
  asio::steady_timer timer;
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
  first->timer.cancel();
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

Task<Result<void>> Semaphore::wait_for_grant(std::shared_ptr<Waiter> waiter) {
  (void)co_await waiter->timer.async_wait(kTuple);
  if (!waiter->granted) co_return fail(Errc::kCancelled, "cancelled");
  co_return Result<void>{};
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
  const auto waiter = std::make_shared<Waiter>(never(state->executor));
  const auto place = state->waiters.insert(state->waiters.end(), waiter);
  auto waited = co_await with_deadline(clock, deadline, wait_for_grant(waiter), "acquire");
  if (!waiter->granted) {
    state->waiters.erase(place);
    co_return std::unexpected<Error>(std::move(waited).error());
  }
  Permit permit(state);  // given on to the next one if the wait failed in the same turn
  if (!waited) co_return std::unexpected<Error>(std::move(waited).error());
  co_return permit;
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
