#include "operator/training/parallel.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <exception>
#include <optional>

#include "base/task_group.hpp"

namespace amdahl::training {
namespace {

struct Work {
  std::function<Task<Result<void>>(std::size_t)> make;
  std::size_t count = 0;
  std::size_t next = 0;
  std::optional<Error> failed = {};
  std::exception_ptr thrown = {};  // goes on to the caller, as if it had made the write itself
};

Task<void> work_on(Work& work) {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  try {
    while (work.next < work.count && !work.failed && !work.thrown) {
      auto done = co_await work.make(work.next++);
      if (!done && !work.failed) work.failed = std::move(done).error();
    }
  } catch (...) {
    work.thrown = std::current_exception();
  }
}

}  // namespace

Task<Result<void>> in_parallel(Clock& clock, std::size_t count,
                               std::function<Task<Result<void>>(std::size_t)> make) {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  Work work{.make = std::move(make), .count = count};
  TaskGroup group(co_await boost::asio::this_coro::executor);
  for (std::size_t i = 0; i < std::min(count, kPodWritesMax); ++i)
    group.spawn("pod writes", work_on(work));
  if (!co_await group.join(clock, Monotonic::max())) {  // stopped: so are the writes
    group.stop();
    co_await boost::asio::this_coro::reset_cancellation_state();
    (void)co_await group.join(clock, Monotonic::max());
    co_return fail(Errc::kCancelled, "writes of pods stopped");
  }
  if (work.thrown) std::rethrow_exception(work.thrown);
  if (work.failed) co_return std::unexpected<Error>(*std::move(work.failed));
  co_return Result<void>{};
}

}  // namespace amdahl::training
