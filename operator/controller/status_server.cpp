#include "operator/controller/status_server.hpp"

#include <utility>

#include "base/http_peer.hpp"

namespace amdahl::controller {
namespace {

constexpr std::chrono::seconds kStatusTime{10};  // for a stranger, and for each piece of an answer

HttpServerOptions limited(HttpServerOptions options) {
  options.limits = {.header_bytes_max = 2 * kBearerBytesMax,
                    .target_bytes_max = 1024,
                    .fields_max = 64,
                    .query_pairs_max = 16,
                    .body_bytes_max = 1024,
                    .connections_max = kStatusConnectionsMax,
                    .body_time = kStatusTime,
                    .write_time = kStatusTime,
                    .strangers_per_peer_max = kStatusStrangersOfAPeerMax,
                    .stranger_time = kStatusTime,
                    .connections_per_owner_max = kConnectionsOfAReaderMax};
  return options;
}

HttpResponse check_response(const std::string& problem, int status_if_bad) {
  if (problem.empty()) return plain_http_response(200, "ok");
  return plain_http_response(status_if_bad, problem);
}

HttpResponse refusal(Admission admission) {
  static constexpr std::string_view kWhy = "metrics need a token that may read them";
  if (admission == Admission::kDenied) return plain_http_response(403, kWhy);
  if (admission == Admission::kBusy) return plain_http_response(429, "too many tokens to check");
  if (admission == Admission::kUnknown)
    return plain_http_response(503, "the token was not checked");
  HttpResponse response = plain_http_response(401, kWhy);
  response.headers.push_back({.name = "WWW-Authenticate", .value = "Bearer"});
  return response;
}

}  // namespace

StatusServer::StatusServer(boost::asio::any_io_executor executor, Clock& clock,
                           MetricsRegistry& metrics, StatusServerOptions options,
                           StatusChecks checks)
    : metrics_(metrics),
      checks_(std::move(checks)),
      separate_(options.metrics.has_value()),
      probes_(executor, clock, limited(std::move(options.probes)), handler()) {
  if (options.metrics_access) guard_.emplace(clock, std::move(options.metrics_access));
  if (options.metrics)
    metrics_server_ = std::make_unique<HttpServer>(
        executor, clock, limited(*std::move(options.metrics)),
        [this](HttpRequest request, HttpResponder& responder) -> Task<void> {
          return serve_metrics(std::move(request), responder);
        });
}

HttpHandler StatusServer::handler() {
  return [this](HttpRequest request, HttpResponder& responder) -> Task<void> {
    return serve(std::move(request), responder);
  };
}

Task<Result<void>> StatusServer::start() {
  CO_TRY(co_await probes_.start());
  if (metrics_server_) CO_TRY(co_await metrics_server_->start());
  co_return Result<void>{};
}

Task<Result<void>> StatusServer::stop(Monotonic deadline) {
  Result<void> metrics_stopped;
  if (metrics_server_) metrics_stopped = co_await metrics_server_->stop(deadline);
  auto probes_stopped = co_await probes_.stop(deadline);
  co_return metrics_stopped ? std::move(probes_stopped) : std::move(metrics_stopped);
}

Task<void> StatusServer::serve(HttpRequest request, HttpResponder& responder) {
  HttpResponse response = plain_http_response(404, "no such page");
  if (request.method != "GET" && request.method != "HEAD") {
    response = plain_http_response(405, "only GET");
  } else if (request.path == "/livez" || request.path == "/healthz") {
    response = check_response(checks_.not_live(), 500);
  } else if (request.path == "/readyz") {
    response = check_response(checks_.not_ready(), 503);
  } else if (request.path == "/metrics" && !separate_) {
    response = co_await metrics_for(std::move(request), responder);
  }
  (void)co_await responder.respond(std::move(response));  // a prober that left needs no answer
}

Task<void> StatusServer::serve_metrics(HttpRequest request, HttpResponder& responder) {
  HttpResponse response = plain_http_response(404, "no such page");
  if (request.method == "GET" && request.path == "/metrics")
    response = co_await metrics_for(std::move(request), responder);
  (void)co_await responder.respond(std::move(response));
}

Task<HttpResponse> StatusServer::metrics_for(HttpRequest request, HttpResponder& responder) {
  if (guard_) {
    const std::string reader = address_of_peer(request.peer);
    const Admission admission =
        co_await guard_->admit(std::string(request.header("Authorization")), request.path, reader);
    if (admission != Admission::kAllowed) co_return refusal(admission);
    responder.vouch(reader);
  }
  co_return HttpResponse{.status = 200,
                         .content_type = "text/plain; version=0.0.4; charset=utf-8",
                         .body = metrics_.render()};
}

}  // namespace amdahl::controller
