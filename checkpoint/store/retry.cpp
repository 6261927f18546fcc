#include "checkpoint/store/retry.hpp"

#include <algorithm>

namespace amdahl::checkpoint {

bool is_passing(int status) {
  constexpr int kPassing[] = {408, 429, 500, 502, 503, 504};
  return std::ranges::find(kPassing, status) != std::end(kPassing);
}

bool is_passing(const Error& error) {
  return error.code == Errc::kIo || error.code == Errc::kUnavailable ||
         error.code == Errc::kThrottled;
}

std::optional<std::chrono::nanoseconds> delay_before_next(const RetryOptions& options,
                                                          const FailedAttempt& failed, Rng& rng) {
  if (failed.failures >= options.attempts_max) return std::nullopt;
  std::chrono::nanoseconds bound = options.first_delay;
  for (int i = 1; i < failed.failures && bound < options.delay_max; ++i) bound *= 2;
  bound = std::min<std::chrono::nanoseconds>(bound, options.delay_max);
  const auto chosen = rng.below(static_cast<std::uint64_t>(bound.count()) + 1);
  std::chrono::nanoseconds delay(static_cast<std::int64_t>(chosen));
  if (failed.retry_after) delay += *failed.retry_after;
  if (delay >= failed.left) return std::nullopt;
  return delay;
}

}  // namespace amdahl::checkpoint
