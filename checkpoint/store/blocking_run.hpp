// Runs one task to its end on an io_context of the caller, which blocks. For .cpp files only: it
// brings Asio.
//
// Thread: the caller's; nobody else runs the io_context. Failure: kCancelled after a stop. The task
// has ended when this returns, so it may refer to the caller's frame.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <optional>
#include <stop_token>

#include "base/check.hpp"
#include "base/task_group.hpp"

namespace amdahl::checkpoint {

template <class T>
Task<void> keep_result(Task<Result<T>> task, std::optional<Result<T>>& into) {
  into.emplace(co_await std::move(task));
}

template <class T>
Result<T> run_blocking(boost::asio::io_context& io, Task<Result<T>> task,
                       const std::stop_token& stop) {
  std::optional<Result<T>> result;
  std::exception_ptr failure;
  io.restart();
  const auto running =
      RunningTask::start(io.get_executor(), keep_result(std::move(task), result),
                         [&failure](std::exception_ptr thrown) { failure = std::move(thrown); });
  {
    // A stop comes from any thread; the task is stopped on ours.
    const std::stop_callback on_stop(
        stop, [&io, running] { boost::asio::post(io, [running] { running->stop(); }); });
    io.run();
  }
  AMDAHL_CHECK(running->ended());
  AMDAHL_CHECK(!failure || is_cancellation(failure));
  if (result && (*result || !stop.stop_requested())) return std::move(*result);
  return fail(Errc::kCancelled, "stopped");
}

}  // namespace amdahl::checkpoint
