// Runs numbered pieces of work, a bounded number of them at once.
//
// Thread: one. Lifetime: whoever calls run() awaits it; the work may refer to that frame. Failure:
// the first error ends it: nothing new begins, what runs is awaited. Cancelled work is awaited too.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <functional>
#include <optional>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace amdahl::local::scheduling {

class Parallel {
 public:
  using Work = std::function<Task<Result<void>>(std::size_t index)>;

  Parallel(boost::asio::any_io_executor executor, Clock& clock, std::size_t at_once_max);
  Task<Result<void>> run(std::size_t count, Work work);

 private:
  struct Progress {
    Work work = {};
    std::size_t count = 0;
    std::size_t next = 0;
    std::optional<Error> failed = {};
  };
  static Task<void> take_turns(Progress& progress);

  boost::asio::any_io_executor executor_;
  Clock& clock_;
  std::size_t at_once_max_;
};

}  // namespace amdahl::local::scheduling
