#include "local/scheduler/in_parallel.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "base/task_group.hpp"

namespace amdahl::local::scheduling {

Parallel::Parallel(boost::asio::any_io_executor executor, Clock& clock, std::size_t at_once_max)
    : executor_(std::move(executor)), clock_(clock), at_once_max_(at_once_max) {}

Task<Result<void>> Parallel::run(std::size_t count, Work work) {
  if (count == 0) co_return Result<void>{};
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  Progress progress{.work = std::move(work), .count = count};
  TaskGroup workers(executor_);
  for (std::size_t i = 0; i < std::min(count, at_once_max_); ++i)
    workers.spawn("write", take_turns(progress));
  if (!co_await workers.join(clock_, Monotonic::max())) {
    workers.stop();
    co_await boost::asio::this_coro::reset_cancellation_state();
    (void)co_await workers.join(clock_, Monotonic::max());
    co_return fail(Errc::kCancelled, "stopped while writing");
  }
  if (progress.failed) co_return std::unexpected<Error>(std::move(*progress.failed));
  co_return Result<void>{};
}

Task<void> Parallel::take_turns(Progress& progress) {
  while (progress.next < progress.count && !progress.failed) {
    auto done = co_await progress.work(progress.next++);
    if (!done && !progress.failed) progress.failed = std::move(done).error();
  }
}

}  // namespace amdahl::local::scheduling
