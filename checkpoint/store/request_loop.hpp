// Sends a request until there is an answer that means something.
//
// Thread: any, many at once. Lifetime: clock and client outlive it. Failure: kTimeout, kCancelled,
// kTls and bad input at once; a broken connection or a passing status after the last attempt.
#pragma once

#include <mutex>
#include <span>

#include "base/function_ref.hpp"
#include "checkpoint/store/http_client.hpp"
#include "checkpoint/store/retry.hpp"

namespace amdahl::checkpoint {

struct Sent {
  StoreAnswer answer = {};
  // An attempt before went unanswered, so the request may have been carried out already.
  bool unanswered_before = false;
};

// The request for one attempt: signed now. `renew`: the credentials of the last were refused.
using MakeRequest = function_ref<Result<StoreRequest>(bool renew)>;
// Whether an answer is no answer, and the request is sent again.
using IsPassing = function_ref<bool(const StoreAnswer&)>;

class RequestLoop {
 public:
  RequestLoop(Clock& clock, HttpClient& client, RetryOptions options, Rng rng)
      : clock_(clock), client_(client), options_(options), rng_(rng) {}

  Result<Sent> send(const Endpoint& endpoint, MakeRequest make, const StoreCall& call,
                    std::span<std::byte> into = {});
  Result<Sent> send(const Endpoint& endpoint, MakeRequest make, const StoreCall& call,
                    std::span<std::byte> into, IsPassing is_passing);
  Result<StoreAnswer> send_once(const Endpoint& endpoint, const StoreRequest& request,
                                const StoreCall& call) {
    return client_.send(endpoint, request, {}, call);
  }
  // For loops of callers: waits before another attempt. False: that was the last.
  Result<bool> pause(int failures, std::optional<std::chrono::milliseconds> retry_after,
                     const StoreCall& call);
  std::uint64_t random();

 private:
  Clock& clock_;
  HttpClient& client_;
  const RetryOptions options_;
  std::mutex mutex_;
  Rng rng_;
};

}  // namespace amdahl::checkpoint
