#include "checkpoint/store/request_loop.hpp"

namespace amdahl::checkpoint {

std::uint64_t RequestLoop::random() {
  const std::scoped_lock lock(mutex_);
  return rng_.next();
}

Result<bool> RequestLoop::pause(int failures, std::optional<std::chrono::milliseconds> retry_after,
                                const StoreCall& call) {
  const FailedAttempt failed{
      .failures = failures, .retry_after = retry_after, .left = call.deadline - clock_.monotonic()};
  std::optional<std::chrono::nanoseconds> delay;
  {
    const std::scoped_lock lock(mutex_);
    delay = delay_before_next(options_, failed, rng_);
  }
  if (!delay) return false;
  TRY(wait_blocking(clock_, *delay, call));
  return true;
}

Result<Sent> RequestLoop::send(const Endpoint& endpoint, MakeRequest make, const StoreCall& call,
                               std::span<std::byte> into) {
  return send(endpoint, make, call, into,
              [](const StoreAnswer& answer) { return is_passing(answer.status); });
}

Result<Sent> RequestLoop::send(const Endpoint& endpoint, MakeRequest make, const StoreCall& call,
                               std::span<std::byte> into, IsPassing is_passing_answer) {
  bool refused = false;
  bool unanswered = false;
  for (int failures = 1;; ++failures) {
    TRY(const StoreRequest request, make(refused));
    auto answer = client_.send(endpoint, request, into, call);
    if (answer && answer->status == 401 && !refused) {
      refused = true;
      continue;
    }
    if (answer && !is_passing_answer(*answer))
      return Sent{.answer = *std::move(answer), .unanswered_before = unanswered};
    if (!answer && !is_passing(answer.error()))
      return std::unexpected<Error>(std::move(answer).error());
    unanswered = true;
    const auto wish = answer ? parse_retry_after(answer->field("retry-after")) : std::nullopt;
    TRY(const bool again, pause(failures, wish, call));
    if (again) continue;
    if (answer) return Sent{.answer = *std::move(answer), .unanswered_before = unanswered};
    return wrap(std::move(answer).error(), "{} attempts", failures);
  }
}

}  // namespace amdahl::checkpoint
