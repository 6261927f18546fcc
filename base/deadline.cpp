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

// Until the alarm rings, whatever else happens to the waiting task.
Task<void> until_rung(Alarm& alarm) {
  asio::steady_timer timer = never(co_await asio::this_coro::executor);
  const Alarm::Listening listening(&alarm, timer);
  while (!alarm.rung()) (void)co_await timer.async_wait(kTuple);
}

// Until the alarm rings; an error at the deadline and when the waiting task was stopped.
Task<Result<void>> until_rung(Clock& clock, Monotonic deadline, Alarm& alarm,
                              std::string_view what) {
  const auto stopped = co_await asio::this_coro::cancellation_state;
  if (stopped.cancelled() != asio::cancellation_type::none)
    co_return fail(Errc::kCancelled, "{}: cancelled", what);
  const bool due = deadline <= clock.monotonic() || co_await clock.sleep(deadline, &alarm);
  if (alarm.rung()) co_return Result<void>{};
  if (due) co_return fail(Errc::kTimeout, "{}: deadline passed", what);
  co_return fail(Errc::kCancelled, "{}: cancelled", what);
}

// What the racing task and the waiting coroutine share.
struct RaceState {
  Alarm ended;
  std::exception_ptr failure;
};

}  // namespace

namespace detail {

Task<Race> race(Clock& clock, Monotonic deadline, Task<void> task) {
  const auto stopped = co_await asio::this_coro::cancellation_state;
  if (stopped.cancelled() != asio::cancellation_type::none) co_return Race{RaceEnd::kCancelled, {}};
  if (deadline <= clock.monotonic()) co_return Race{RaceEnd::kDeadline, {}};
  const auto state = std::make_shared<RaceState>();
  const auto running = RunningTask::start(co_await asio::this_coro::executor, std::move(task),
                                          [state](std::exception_ptr failure) {
                                            state->failure = std::move(failure);
                                            state->ended.ring();
                                          });
  if (state->ended.rung()) co_return Race{RaceEnd::kFinished, state->failure};

  // From here on being stopped is a value: the task must have ended before this frame goes.
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  Race race;
  const bool due = co_await clock.sleep(deadline, &state->ended);
  if (!state->ended.rung()) {
    race.end = due ? RaceEnd::kDeadline : RaceEnd::kCancelled;
    running->stop();
    co_await until_rung(state->ended);
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
  std::list<Alarm*> waiters;  // each leaves when it is rung, or when its wait ends
};

Notify::Notify(const asio::any_io_executor& /*executor*/) : state_(std::make_shared<State>()) {}

void Notify::notify_all() {
  for (Alarm* const waiter : std::exchange(state_->waiters, {})) waiter->ring();
}

Task<Result<void>> Notify::wait_on(std::shared_ptr<State> state, Clock& clock, Monotonic deadline) {
  struct Waiter {
    State& state;
    Alarm alarm = {};
    std::list<Alarm*>::iterator place = state.waiters.insert(state.waiters.end(), &alarm);
    ~Waiter() {
      if (!alarm.rung()) state.waiters.erase(place);
    }
  };
  Waiter waiter{*state};
  co_return co_await until_rung(clock, deadline, waiter.alarm, "wait");
}

Task<Result<void>> Notify::wait(Clock& clock, Monotonic deadline) {
  return wait_on(state_, clock, deadline);
}

struct Semaphore::Waiter {
  Alarm granted;
};

struct Semaphore::State {
  std::size_t available = 0;
  std::size_t waiters_max = 0;
  std::list<std::shared_ptr<Waiter>> waiters;
};

Semaphore::Semaphore(const asio::any_io_executor& /*executor*/, std::size_t permits,
                     std::size_t waiters_max)
    : state_(std::make_shared<State>(permits, waiters_max)) {
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
  first->granted.ring();
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
  const auto waiter = std::make_shared<Waiter>();
  const auto place = state->waiters.insert(state->waiters.end(), waiter);
  auto waited = co_await until_rung(clock, deadline, waiter->granted, "acquire");
  if (!waiter->granted.rung()) {
    state->waiters.erase(place);
    co_return std::unexpected<Error>(std::move(waited).error());
  }
  co_return Permit(state);
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
