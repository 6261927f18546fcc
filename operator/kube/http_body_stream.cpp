#include "operator/kube/http_body_stream.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/check.hpp"

namespace amdahl::kube {

struct HttpBodyStream::Watchdog {
  std::shared_ptr<Connection> connection;
  std::shared_ptr<RunningTask> task;
  Monotonic wakes{};     // when the task looks next
  Monotonic deadline{};  // of the read that waits now
  bool waiting = false;
  bool expired = false;
};

HttpBodyStream::HttpBodyStream(std::unique_ptr<HttpExchange> exchange, Semaphore::Permit permit,
                               Clock& clock, std::string what)
    : exchange_(std::move(exchange)),
      permit_(std::move(permit)),
      clock_(clock),
      what_(std::move(what)) {}

HttpBodyStream::~HttpBodyStream() {
  if (watchdog_ && watchdog_->task) watchdog_->task->stop();
}

Task<Result<std::size_t>> HttpBodyStream::read(std::span<char> into, Monotonic deadline) {
  AMDAHL_CHECK(!into.empty());
  // Awaiting anything in a stopped task would throw; a stop is a value here.
  const auto stopped = co_await boost::asio::this_coro::cancellation_state;
  if (stopped.cancelled() != boost::asio::cancellation_type::none)
    co_return fail(Errc::kCancelled, "{}: cancelled", what_);
  if (exchange_->turn_is_over()) co_await exchange_->yield();
  for (;;) {
    auto size = exchange_->try_read(into);
    if (!size) co_return wrap(std::move(size).error(), "{}", what_);
    if (*size) co_return **size;
    auto waited = co_await wait(deadline);
    if (!waited) co_return wrap(std::move(waited).error(), "{}", what_);
  }
}

Task<Result<void>> HttpBodyStream::wait(Monotonic deadline) {
  const auto late = [&] {
    return fail(Errc::kTimeout, "{}: deadline passed", exchange_->connection().peer());
  };
  if (deadline <= clock_.monotonic()) co_return late();
  set_watchdog(co_await boost::asio::this_coro::executor, deadline);
  watchdog_->waiting = true;
  auto waited = co_await exchange_->wait_readable();
  watchdog_->waiting = false;
  if (watchdog_->expired) co_return late();
  co_return waited;
}

// The task that sleeps now will do if it looks before the deadline: it then sleeps again.
void HttpBodyStream::set_watchdog(const boost::asio::any_io_executor& executor,
                                  Monotonic deadline) {
  if (watchdog_ && watchdog_->wakes > deadline) {
    watchdog_->task->stop();
    watchdog_.reset();
  }
  if (!watchdog_) watchdog_ = std::make_shared<Watchdog>(exchange_->shared_connection());
  watchdog_->deadline = deadline;
  watchdog_->expired = false;
  if (watchdog_->task || deadline == Monotonic::max()) return;
  watchdog_->wakes = deadline;
  watchdog_->task = RunningTask::start(executor, watch(watchdog_, clock_), {});
}

Task<void> HttpBodyStream::watch(std::shared_ptr<Watchdog> watchdog, Clock& clock) {
  // Ends when nobody waits any more; the next wait starts another.
  while (co_await clock.sleep_until(watchdog->wakes)) {
    if (watchdog->waiting && watchdog->deadline <= clock.monotonic()) {
      watchdog->expired = true;
      watchdog->connection->interrupt();
    }
    if (!watchdog->waiting || watchdog->expired || watchdog->deadline == Monotonic::max()) break;
    watchdog->wakes = watchdog->deadline;
  }
  watchdog->task.reset();
}

}  // namespace amdahl::kube
