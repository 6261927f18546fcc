#include "tests/bench/workers.hpp"

#include <fmt/format.h>

namespace amdahl::bench {

Task<void> Workers::work() {
  while (!failure_ && next_ < count_) {
    const auto done = co_await step_(next_++);
    if (!done && !failure_) failure_ = done.error();
  }
}

Task<Result<void>> Workers::run(std::int64_t count, std::int64_t at_once, Step step) {
  step_ = std::move(step);
  next_ = 0;
  count_ = count;
  for (std::int64_t number = 0; number < at_once; ++number)
    group_.spawn(fmt::format("worker {}", number), work());
  if (!co_await group_.join(clock_, clock_.monotonic() + kRunMax))
    co_return fail(Errc::kTimeout, "not done after {} h", kRunMax.count());
  if (failure_) co_return std::unexpected<Error>(*failure_);
  co_return Result<void>{};
}

}  // namespace amdahl::bench
