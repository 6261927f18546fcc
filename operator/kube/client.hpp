// The Kubernetes API for callers: statuses become errors, and what is safe to repeat is repeated.
//
// Thread: one. Lifetime: outlives every Api and stream made from it. Failure: an Error whose text
// names verb, kind, namespace/name and cause, and never a credential.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "operator/kube/request.hpp"
#include "operator/kube/transport.hpp"

namespace amdahl::kube {

struct ClientOptions {
  std::chrono::milliseconds deadline{30'000};  // of one call with all its retries
  std::chrono::milliseconds attempt_timeout{15'000};
  std::uint32_t attempts_max = 5;
  std::chrono::milliseconds backoff_min{100};
  std::chrono::milliseconds backoff_max{5'000};
};

class Client {
 public:
  Client(Transport& transport, Clock& clock, Rng rng, ClientOptions options = {});

  // Sends and retries by W10: 429 and 5xx with Retry-After for any verb; a broken connection only
  // for reads. Other statuses of 300 and above come back as errors.
  Task<Result<Response>> send(Request request);
  // For watches and logs: no retry, the caller owns the stream.
  Task<Result<StreamResponse>> open(Request request);

  Clock& clock() const { return clock_; }
  Transport& transport() const { return transport_; }
  const ClientOptions& options() const { return options_; }
  std::uint64_t retries() const { return retries_; }

 private:
  std::chrono::nanoseconds pause_after(std::uint32_t attempt, const Error& error);

  Transport& transport_;
  Clock& clock_;
  Rng rng_;
  ClientOptions options_;
  std::uint64_t retries_ = 0;
};

// Whether a request that ended in this error may be sent again as it is (W10).
bool may_repeat(Verb verb, const Error& error);

// What metav1.Status code and reason mean to us, in a response or in an ERROR event of a watch. A
// version the server does not have yet is kGone, like one it has no more: both need a new list
// (L3).
Errc errc_from_status(int code, std::string_view reason, bool version_too_large = false);

// The error a status stands for, with the server's own message (metav1.Status) when there is one.
Error error_from_status(const Request& request, const Response& response);

}  // namespace amdahl::kube
