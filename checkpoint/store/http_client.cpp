#include "checkpoint/store/http_client.hpp"

#include <algorithm>

#include "checkpoint/store/blocking_run.hpp"
#include "checkpoint/store/store_call.hpp"

namespace amdahl::checkpoint {
namespace {

Task<Result<void>> sleep_until(Clock& clock, Monotonic until) {
  if (co_await clock.sleep_until(until)) co_return Result<void>{};
  co_return fail(Errc::kCancelled, "stopped");
}

}  // namespace

HttpClient::HttpClient(Clock& clock, HttpClientOptions options)
    : clock_(clock), options_(std::move(options)) {}

Result<StoreAnswer> HttpClient::send(const Endpoint& endpoint, const StoreRequest& request,
                                     std::span<std::byte> into, const StoreCall& call) {
  TRY(check_going(clock_, call));
  TRY(auto connection, connection_to(endpoint, call));
  TRY(StoreAnswer answer, connection->exchange(request, into, call));
  keep(std::move(connection));
  return answer;
}

Result<std::unique_ptr<HttpConnection>> HttpClient::connection_to(const Endpoint& endpoint,
                                                                  const StoreCall& call) {
  if (auto idle = take_idle(endpoint)) return idle;
  std::shared_ptr<TlsTrust> trust;
  if (endpoint.tls) {
    TRY(trust, this->trust());
  }
  return HttpConnection::open(
      {.clock = clock_, .endpoint = endpoint, .trust = std::move(trust), .times = options_.times},
      call);
}

std::unique_ptr<HttpConnection> HttpClient::take_idle(const Endpoint& endpoint) {
  const std::scoped_lock lock(mutex_);
  const Monotonic oldest = clock_.monotonic() - kIdleTimeMax;
  std::erase_if(idle_, [&](const auto& idle) { return idle->idle_since() < oldest; });
  while (true) {
    const auto found = std::find_if(idle_.rbegin(), idle_.rend(),
                                    [&](const auto& idle) { return idle->endpoint() == endpoint; });
    if (found == idle_.rend()) return nullptr;
    std::unique_ptr<HttpConnection> connection = std::move(*found);
    idle_.erase(std::next(found).base());
    if (connection->usable()) return connection;
  }
}

void HttpClient::keep(std::unique_ptr<HttpConnection> connection) {
  if (!connection->usable()) return;
  const std::scoped_lock lock(mutex_);
  if (idle_.size() < kIdleConnectionsMax) idle_.push_back(std::move(connection));
}

Result<std::shared_ptr<TlsTrust>> HttpClient::trust() {
  const std::scoped_lock lock(mutex_);
  if (trust_ == nullptr) {
    TRY(trust_, TlsTrust::load(options_.ca_file));
  }
  return trust_;
}

Result<void> wait_blocking(Clock& clock, std::chrono::nanoseconds delay, const StoreCall& call) {
  const Monotonic now = clock.monotonic();
  const bool too_long = delay >= call.deadline - now;
  boost::asio::io_context io(1);
  TRY(run_blocking(io, sleep_until(clock, too_long ? call.deadline : now + delay), call.stop));
  return check_going(clock, call);
}

}  // namespace amdahl::checkpoint
