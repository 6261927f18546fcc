#include "operator/report/endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/http_peer.hpp"
#include "base/json_decode.hpp"
#include "base/json_encode.hpp"
#include "base/validate.hpp"
#include "operator/api/report_lists.hpp"

namespace amdahl::report {
namespace {

using api::kProgressPath;
using api::kReportPath;
constexpr std::string_view kScheme = "Bearer ";
constexpr std::size_t kTokenBytesMax = 16'384;

HttpServerOptions limited(HttpServerOptions options, std::size_t connections_max) {
  // Heads and bodies are read before anybody knows who sends them.
  options.limits.header_bytes_max = 2 * kTokenBytesMax;
  options.limits.target_bytes_max = 1024;
  options.limits.fields_max = 64;
  options.limits.body_bytes_max = kKubeflowBytesMax;
  options.limits.connections_max = connections_max;
  options.limits.strangers_per_peer_max = std::min(kStrangersOfAPeerMax, connections_max);
  options.limits.stranger_time = kStrangerTime;
  options.limits.connections_per_owner_max = kConnectionsOfAPodMax;
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
    case Errc::kFenced:
      return 503;
    default:
      return 400;  // what cannot be read is the sender's fault
  }
}

ReportResult result_of(const Error& error) {
  if (error.code == Errc::kThrottled) return ReportResult::kThrottled;
  if (error.code == Errc::kFenced) return ReportResult::kNotLeading;
  return error.code == Errc::kUnavailable ? ReportResult::kUnchecked : ReportResult::kRefused;
}

HttpResponse refusal(const Error& error) {
  HttpResponse response = plain_http_response(status_of(error.code), error.context);
  if (error.code == Errc::kUnauthorized)
    response.headers.push_back({.name = "WWW-Authenticate", .value = "Bearer"});
  if (response.status == 429 || response.status == 503)
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
  api::keep_last_of_each_name(report);
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
      tokens_(clock, std::move(options.review), std::move(options.knows)),
      metrics_(registry),
      http_(std::move(executor), clock, limited(std::move(options.http), options.connections_max),
            [this](HttpRequest request, HttpResponder& responder) -> Task<void> {
              return serve(std::move(request), responder);
            }) {}

Task<void> ReportEndpoint::serve(HttpRequest request, HttpResponder& responder) {
  Result<Answer> answered = co_await answer(std::move(request), responder);
  Answer said = answered ? *std::move(answered)
                         : Answer{.response = refusal(answered.error()),
                                  .result = result_of(answered.error())};
  metrics_.count(said.result);
  // A sender that has gone is its own loss.
  (void)co_await responder.respond(std::move(said.response));
}

Task<Result<ReportEndpoint::Answer>> ReportEndpoint::answer(HttpRequest request,
                                                            HttpResponder& responder) {
  if (request.path != kReportPath && request.path != kProgressPath)
    co_return fail(Errc::kNotFound, "reports go to {} or {}", kReportPath, kProgressPath);
  if (request.method != "POST")
    co_return Answer{.response = plain_http_response(405, "reports are posted"),
                     .result = ReportResult::kRefused};
  CO_TRY(std::string token, bearer_token(request));
  if (accepting_ && !accepting_())
    co_return fail(Errc::kFenced, "this replica of the operator does not lead; connect again");
  CO_TRY(const TokenPod token_pod,
         co_await tokens_.pod_of(std::move(token), address_of_peer(request.peer)));
  CO_TRY(const JobPod pod, reporting_pod(token_pod, find_));
  responder.vouch(fmt::format("{}/{}", pod.job.ns, pod.pod_uid));
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

Result<ReportEndpoint::Answer> ReportEndpoint::take(const JobPod& pod, const HttpRequest& request) {
  HttpResponse response{.content_type = "application/json", .body = "{}\n"};
  if (request.path == kProgressPath) {
    TRY(const Progress progress, read_kubeflow(request.body));
    sink_.take_progress(pod, progress);
    return Answer{.response = std::move(response)};
  }
  TRY(api::Report report, read_report(pod, request.body));
  const auto reply = sink_.take(pod, std::move(report));
  if (!reply) return Answer{.response = refusal(reply.error()), .result = ReportResult::kFull};
  response.body = encode(*reply).dump() + "\n";
  return Answer{.response = std::move(response)};
}

}  // namespace amdahl::report
