#include "operator/controller/status_server.hpp"

#include <utility>

namespace amdahl::controller {
namespace {

HttpResponse check_response(const std::string& problem, int status_if_bad) {
  if (problem.empty()) return plain_http_response(200, "ok");
  return plain_http_response(status_if_bad, problem);
}

int status_of(Admission admission) {
  switch (admission) {
    case Admission::kAllowed:
      return 200;
    case Admission::kNoToken:
      return 401;
    case Admission::kDenied:
      return 403;
    case Admission::kBusy:
      return 429;
    case Admission::kUnknown:
      return 503;
  }
  return 503;
}

}  // namespace

StatusServer::StatusServer(boost::asio::any_io_executor executor, Clock& clock,
                           MetricsRegistry& metrics, StatusServerOptions options,
                           StatusChecks checks)
    : metrics_(metrics),
      checks_(std::move(checks)),
      separate_(options.metrics.has_value()),
      probes_(executor, clock, std::move(options.probes), handler()) {
  if (options.metrics_access) guard_.emplace(clock, std::move(options.metrics_access));
  if (options.metrics)
    metrics_server_ = std::make_unique<HttpServer>(
        executor, clock, *std::move(options.metrics),
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
  if (metrics_server_) CO_TRY(co_await metrics_server_->stop(deadline));
  co_return co_await probes_.stop(deadline);
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
    response = co_await metrics_for(std::move(request));
  }
  (void)co_await responder.respond(std::move(response));  // a prober that left needs no answer
}

Task<void> StatusServer::serve_metrics(HttpRequest request, HttpResponder& responder) {
  HttpResponse response = plain_http_response(404, "no such page");
  if (request.method == "GET" && request.path == "/metrics")
    response = co_await metrics_for(std::move(request));
  (void)co_await responder.respond(std::move(response));
}

Task<HttpResponse> StatusServer::metrics_for(HttpRequest request) {
  if (guard_) {
    const Admission admission =
        co_await guard_->admit(std::string(request.header("Authorization")), request.path);
    const int status = status_of(admission);
    if (status != 200)
      co_return plain_http_response(status, "metrics need a token that may read them");
  }
  co_return HttpResponse{.status = 200,
                         .content_type = "text/plain; version=0.0.4; charset=utf-8",
                         .body = metrics_.render()};
}

}  // namespace amdahl::controller
