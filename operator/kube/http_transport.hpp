// The transport to a real API server: HTTP/1.1 over TCP or TLS, with connections kept and reused.
//
// Purpose: one server, all lanes. Every stage (turn, credentials, connect, TLS, write, answer) is
// under the caller's one deadline. A kept connection that turns out to be dead is replaced once,
// unseen, if the request is a read or had not been sent (W10). A 401 is retried once with fresh
// credentials. A fenced write is checked against the fence right before its first byte (E2).
//
// Thread: one. Lifetime: clock, TLS material and credentials outlive it; it outlives its streams.
// Failure: see transport.hpp; texts begin with verb and subject, as in
// "get pods research/llama-0: connect 127.0.0.1:6443: connection refused", and never hold a secret.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/kube/connection_pool.hpp"
#include "operator/kube/proxy.hpp"
#include "operator/kube/tls_material.hpp"
#include "operator/kube/transport.hpp"
#include "operator/kube/url.hpp"

namespace amdahl::kube {

class Credentials;
class HttpExchange;
class TlsContext;

inline constexpr std::size_t kListBytesMax = std::size_t{64} << 20;   // one page of a list (C8)
inline constexpr std::size_t kObjectBytesMax = std::size_t{4} << 20;  // anything else (C8)
inline constexpr std::size_t kErrorBytesMax = std::size_t{64} << 10;  // of an answer >= 300

struct HttpTransportOptions {
  Url server = {};
  TlsMaterial* tls = nullptr;          // needed for https
  std::string server_name = {};        // verified instead of the host; empty: the host
  bool insecure = false;               // verify nothing
  Credentials* credentials = nullptr;  // null: anonymous
  std::optional<ProxyTarget> proxy = {};
  std::string user_agent = "amdahl";
  std::size_t list_bytes_max = kListBytesMax;
  std::size_t object_bytes_max = kObjectBytesMax;
  PoolLimits pool = {};
  std::chrono::milliseconds address_timeout{10'000};
  // A Warning header of the server (W11), for the log and a metric.
  std::function<void(const Request& request, std::string_view text)> on_warning = {};
};

// For metrics. All only grow.
struct HttpTransportStats {
  std::uint64_t requests = 0;
  std::uint64_t connections_opened = 0;
  std::uint64_t connections_reused = 0;
  std::uint64_t sessions_resumed = 0;  // TLS handshakes without certificates
  std::uint64_t stale_replaced = 0;    // kept connections that turned out to be dead
  std::uint64_t unauthorized_retries = 0;
  std::uint64_t fenced = 0;  // writes refused by the fence
  std::uint64_t warnings = 0;
};

class HttpTransport final : public Transport {
 public:
  HttpTransport(const boost::asio::any_io_executor& executor, Clock& clock,
                HttpTransportOptions options);
  ~HttpTransport() override;

  Task<Result<Response>> send(Request request, Monotonic deadline) override;
  Task<Result<StreamResponse>> open(Request request, Monotonic head_deadline) override;
  void set_fence(const WriteFence* fence) override { fence_ = fence; }

  const HttpTransportStats& stats() const { return stats_; }
  std::size_t idle_connections() const { return pool_.idle(); }

 private:
  using Exchange = std::unique_ptr<HttpExchange>;
  struct Link;

  Task<Result<Response>> perform(const Request& request, Monotonic deadline);
  Task<Result<StreamResponse>> perform_open(const Request& request, Monotonic deadline);
  // Sends, and returns when the head of the response is there.
  Task<Result<Exchange>> exchange(const Request& request, Monotonic deadline);
  Task<Result<Response>> receive(const Request& request, Exchange exchange);
  Task<Result<std::string>> wire_of(const Request& request, Monotonic deadline);
  Task<Result<Link>> link(Lane lane, bool fresh);
  Result<ConnectTarget> target();
  Result<void> follow_certificates();
  Result<void> check_fence(const Request& request);
  bool retry_unauthorized(int status, Monotonic start, bool& retried);
  Response head_of(const Request& request, const HttpExchange& exchange);

  Clock& clock_;
  HttpTransportOptions options_;
  ConnectionPool pool_;
  HttpTransportStats stats_;
  const WriteFence* fence_ = nullptr;
  std::shared_ptr<TlsContext> context_;
  std::shared_ptr<TlsContext> proxy_context_;
  std::uint64_t tls_generation_ = 0;
  std::uint64_t client_generation_ = 0;
};

// The text of a Warning header: 299 - "spec.x is deprecated" gives spec.x is deprecated.
std::string warning_text(std::string_view header);

}  // namespace amdahl::kube
