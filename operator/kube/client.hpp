// The Kubernetes API for callers: statuses become errors, and what is safe to repeat is repeated.
//
// Thread: one. Lifetime: outlives every Api and stream made from it. Failure: an Error whose text
// names verb, kind, namespace/name and cause, and never a credential.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "operator/kube/request.hpp"
#include "operator/kube/transport.hpp"

namespace amdahl::kube {

struct ClientOptions {
  std::chrono::milliseconds deadline{30'000};       // of one call with all its retries
  std::chrono::milliseconds attempt_timeout{15'000};
  std::uint32_t attempts_max = 5;
  std::chrono::milliseconds backoff_min{100};
  std::chrono::milliseconds backoff_max{5'000};
};

class Client {
 public:
  Client(Transport& transport, Clock& clock, Rng rng, ClientOptions options = {});

  // Sends and retries by W10: 429 and 5xx with Retry-After for any verb; a broken connection only
  // for reads. Other statuses of 400 and above come back as errors.
  Task<Result<Response>> send(Request request);
  // For watches and logs: no retry, the caller owns the stream.
  Task<Result<StreamResponse>> open(Request request);

  Clock& clock() const { return clock_; }
  Transport& transport() const { return transport_; }
  const ClientOptions& options() const { return options_; }

 private:
  Transport& transport_;
  Clock& clock_;
  Rng rng_;
  ClientOptions options_;
};

// The error a status stands for, with the server's own message (metav1.Status) when there is one.
Error error_from_status(const Request& request, const Response& response);

}  // namespace amdahl::kube
