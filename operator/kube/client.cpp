#include "operator/kube/client.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>

namespace amdahl::kube {

bool may_repeat(Verb verb, const Error& error) {
  const bool read = !is_write(verb);
  switch (error.code) {
    case Errc::kThrottled:
      return true;  // refused before anything was done
    case Errc::kUnavailable:
      return error.retry_after.has_value();
    case Errc::kIo:
      return read;
    // A patch whose answer is lost may have been applied, and its base has moved on.
    case Errc::kTimeout:
      return read || (error.retry_after && verb != Verb::kPatch);
    default:
      return false;
  }
}

Client::Client(Transport& transport, Clock& clock, Rng rng, ClientOptions options)
    : transport_(transport), clock_(clock), rng_(rng), options_(options) {}

// What the server asks for, or else full jitter: anything up to a bound that doubles.
std::chrono::nanoseconds Client::pause_after(std::uint32_t attempt, const Error& error) {
  const auto doubled = options_.backoff_min * (std::int64_t{1} << std::min(attempt - 1, 20U));
  const std::chrono::nanoseconds bound = std::min(doubled, options_.backoff_max);
  const std::chrono::nanoseconds jitter{
      static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(bound.count()) + 1))};
  if (!error.retry_after) return jitter;
  // All who were sent away at once should not come back at once.
  return *error.retry_after + std::min<std::chrono::nanoseconds>(jitter, options_.backoff_min);
}

Task<Result<Response>> Client::send(Request request) {
  const Monotonic deadline = clock_.monotonic() + options_.deadline;
  for (std::uint32_t attempt = 1;; ++attempt) {
    const Monotonic until = std::min(deadline, clock_.monotonic() + options_.attempt_timeout);
    auto response = co_await transport_.send(request, until);
    if (response && response->status < 300) co_return response;
    Error error = response ? error_from_status(request, *response) : std::move(response).error();
    if (attempt >= options_.attempts_max || !may_repeat(request.verb, error))
      co_return std::unexpected<Error>(std::move(error));
    const auto pause = pause_after(attempt, error);
    if (clock_.monotonic() + pause >= deadline) co_return std::unexpected<Error>(std::move(error));
    const auto stopped = co_await boost::asio::this_coro::cancellation_state;
    if (stopped.cancelled() != boost::asio::cancellation_type::none ||
        !co_await clock_.sleep_for(pause))
      co_return fail(Errc::kCancelled, "{} {}: cancelled between two attempts", name(request.verb),
                     request.subject);
    ++retries_;
  }
}

Task<Result<StreamResponse>> Client::open(Request request) {
  const Monotonic until = clock_.monotonic() + options_.attempt_timeout;
  auto opened = co_await transport_.open(request, until);
  if (opened && opened->head.status >= 300)
    co_return std::unexpected<Error>(error_from_status(request, opened->head));
  co_return opened;
}

}  // namespace amdahl::kube
