#include "operator/report/endpoint.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_decode.hpp"
#include "base/json_encode.hpp"
#include "base/validate.hpp"

namespace amdahl::report {
namespace {

using api::kProgressPath;
using api::kReportPath;
constexpr std::string_view kScheme = "Bearer ";
constexpr std::size_t kTokenBytesMax = 16'384;

HttpServerOptions limited(HttpServerOptions options) {
  options.limits.body_bytes_max = kKubeflowBytesMax;
  options.limits.connections_max = kReportersMax;
  return options;
}

int status_of(Errc code) {
  switch (code) {
    case Errc::kUnauthorized:
      return 401;
    case Errc::kForbidden:
      return 403;
    case Errc::kNotFound:
      return 404;
    case Errc::kTooLarge:
      return 413;
    case Errc::kThrottled:
      return 429;
    case Errc::kUnavailable:
      return 503;
    default:
      return 400;  // what cannot be read is the sender's fault
  }
}

HttpResponse refusal(const Error& error) {
  HttpResponse response = plain_http_response(status_of(error.code), error.context);
  if (error.code == Errc::kUnauthorized)
    response.headers.push_back({.name = "WWW-Authenticate", .value = "Bearer"});
  if (error.code == Errc::kThrottled || error.code == Errc::kUnavailable)
    response.headers.push_back({.name = "Retry-After", .value = "5"});
  return response;
}

Result<std::string> bearer_token(const HttpRequest& request) {
  std::string_view text = request.header("Authorization");
  if (!text.starts_with(kScheme) || text.size() == kScheme.size() || text.size() > kTokenBytesMax)
    return fail(Errc::kUnauthorized, "reports need the token of their pod");
  text.remove_prefix(kScheme.size());
  return std::string(text);
}

Result<api::Report> read_report(const JobPod& pod, const std::string& body) {
  if (body.size() > api::kReportBytesMax)
    return fail(Errc::kTooLarge, "a report has at most {} bytes", api::kReportBytesMax);
  TRY(api::Report report, decode<api::Report>(body));
  TRY(validate(report));
  if (report.attempt != pod.attempt || report.rank != pod.rank)
    return fail(Errc::kInvalid, "this pod is rank {} of attempt {}, not rank {} of attempt {}",
                pod.rank, pod.attempt, report.rank, report.attempt);
  report.job = pod.job.ns + "/" + pod.job.name;
  report.job_uid = pod.job_uid;
  report.pod_uid = pod.pod_uid;
  return report;
}

}  // namespace

ReportEndpoint::ReportEndpoint(boost::asio::any_io_executor executor, Clock& clock,
                               MetricsRegistry& registry, EndpointOptions options, ReportSink& sink)
    : clock_(clock),
      sink_(sink),
      find_(std::move(options.find)),
      accepting_(std::move(options.accepting)),
      tokens_(clock, std::move(options.review)),
      metrics_(registry),
      http_(std::move(executor), clock, limited(std::move(options.http)),
            [this](HttpRequest request, HttpResponder& responder) -> Task<void> {
              return serve(std::move(request), responder);
            }) {}

Task<void> ReportEndpoint::serve(HttpRequest request, HttpResponder& responder) {
  Result<HttpResponse> answered = co_await answer(std::move(request));
  HttpResponse response = answered ? *std::move(answered) : refusal(answered.error());
  metrics_.count(response.status);
  (void)co_await responder.respond(std::move(response));  // a sender that has gone is its own loss
}

Task<Result<HttpResponse>> ReportEndpoint::answer(HttpRequest request) {
  if (request.path != kReportPath && request.path != kProgressPath)
    co_return fail(Errc::kNotFound, "reports go to {} or {}", kReportPath, kProgressPath);
  if (request.method != "POST") co_return plain_http_response(405, "reports are posted");
  CO_TRY(std::string token, bearer_token(request));
  if (accepting_ && !accepting_())
    co_return fail(Errc::kUnavailable, "this replica of the operator does not lead; ask again");
  CO_TRY(const TokenPod token_pod, co_await tokens_.pod_of(std::move(token)));
  CO_TRY(const JobPod pod, reporting_pod(token_pod, find_));
  CO_TRY(limit(pod));
  co_return take(pod, request);
}

Result<void> ReportEndpoint::limit(const JobPod& pod) {
  const Monotonic now = clock_.monotonic();
  controller::TokenBucket* bucket = rates_.find(pod.pod_uid);
  if (bucket == nullptr)
    bucket =
        &rates_.put(pod.pod_uid, controller::TokenBucket(kReportsPerSecond, kReportsBurst, now));
  if (bucket->try_take(now)) return {};
  return fail(Errc::kThrottled, "a pod may report {} times a second", kReportsPerSecond);
}

Result<HttpResponse> ReportEndpoint::take(const JobPod& pod, const HttpRequest& request) {
  HttpResponse response{.content_type = "application/json", .body = "{}\n"};
  if (request.path == kProgressPath) {
    TRY(const Progress progress, read_kubeflow(request.body));
    sink_.take_progress(pod, progress);
    return response;
  }
  TRY(api::Report report, read_report(pod, request.body));
  response.body = encode(sink_.take(pod, std::move(report))).dump() + "\n";
  return response;
}

}  // namespace amdahl::report
