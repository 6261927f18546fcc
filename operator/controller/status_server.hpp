// Health, readiness and metrics over HTTP (E6).
//
//   /livez   /healthz   200 while the process is worth keeping, else 500 and why
//   /readyz             200 when the caches have synced, else 503 and why
//   /metrics            the Prometheus text format
//
// With `metrics` set, metrics have a listener of their own, for TLS and for callers whom a guard
// checks, while probes stay plain. Each listener has few places: idle connections are closed, the
// oldest first when newer ones come, so that a prober always gets in. Readers whom the guard let in
// keep their connection. Thread: one. Lifetime: stop() has returned before it dies.
// Failure: start() says which address could not be had.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/http_server.hpp"
#include "base/metrics.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/controller/metrics_guard.hpp"

namespace amdahl::controller {

// Of each listener. A kubelet opens a connection for each probe, and a scraper keeps one or two.
inline constexpr std::size_t kStatusConnectionsMax = 64;
inline constexpr std::size_t kStatusStrangersOfAPeerMax = 16;
inline constexpr std::size_t kConnectionsOfAReaderMax = 8;  // by its address

// What the options say of limits is replaced by those above.
struct StatusServerOptions {
  HttpServerOptions probes{};
  std::optional<HttpServerOptions> metrics{};
  AccessReview metrics_access{};  // empty: everybody may read metrics
};

// Each returns "" when all is well, else what is not.
struct StatusChecks {
  std::function<std::string()> not_live{};
  std::function<std::string()> not_ready{};
};

class StatusServer {
 public:
  StatusServer(boost::asio::any_io_executor executor, Clock& clock, MetricsRegistry& metrics,
               StatusServerOptions options, StatusChecks checks);

  Task<Result<void>> start();
  Task<Result<void>> stop(Monotonic deadline);
  std::uint16_t probe_port() const { return probes_.port(); }
  std::uint16_t metrics_port() const {
    return metrics_server_ ? metrics_server_->port() : probe_port();
  }

 private:
  Task<void> serve(HttpRequest request, HttpResponder& responder);
  Task<void> serve_metrics(HttpRequest request, HttpResponder& responder);
  Task<HttpResponse> metrics_for(HttpRequest request, HttpResponder& responder);
  HttpHandler handler();

  MetricsRegistry& metrics_;
  StatusChecks checks_;
  std::optional<MetricsGuard> guard_;
  bool separate_ = false;
  HttpServer probes_;
  std::unique_ptr<HttpServer> metrics_server_;
};

}  // namespace amdahl::controller
