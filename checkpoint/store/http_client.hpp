// Requests to store servers over connections that are kept.
//
// Nothing is retried here, except that a kept connection which the server has closed meanwhile is
// not used. Thread: any, many at once; a call blocks its own thread. Lifetime: the clock outlives
// it, and no call is in flight when it dies. Failure: as http_connection.hpp says.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/store/http_connection.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kIdleConnectionsMax = 64;
inline constexpr std::chrono::seconds kIdleTimeMax{20};

struct HttpClientOptions {
  std::string ca_file = {};  // empty: the system's
  StepTimes times = {};
};

class HttpClient {
 public:
  HttpClient(Clock& clock, HttpClientOptions options);

  Result<StoreAnswer> send(const Endpoint& endpoint, const StoreRequest& request,
                           std::span<std::byte> into, const StoreCall& call);

 private:
  Result<std::unique_ptr<HttpConnection>> connection_to(const Endpoint& endpoint,
                                                        const StoreCall& call);
  std::unique_ptr<HttpConnection> take_idle(const Endpoint& endpoint);
  void keep(std::unique_ptr<HttpConnection> connection);
  Result<std::shared_ptr<TlsTrust>> trust();

  Clock& clock_;
  const HttpClientOptions options_;
  std::mutex mutex_;
  std::shared_ptr<TlsTrust> trust_;
  std::vector<std::unique_ptr<HttpConnection>> idle_;  // the last used is last
};

// Blocks for so long, unless the call ends before: kTimeout, kCancelled.
Result<void> wait_blocking(Clock& clock, std::chrono::nanoseconds delay, const StoreCall& call);

}  // namespace amdahl::checkpoint
