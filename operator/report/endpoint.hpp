// The HTTP endpoint that pods report to.
//
//   POST /v1/report    a Report of amdahl-launch; the answer says what the rank shall do
//   POST /v1/progress  the progress protocol of Kubeflow Trainer
//
// Both with the pod's own projected token for the audience kReportAudience. What a pod says is a
// claim: who it is comes from its token and the operator's cache, sizes and values are bounded, and
// nothing that it says is written to the API server from here: the sink coalesces.
//
// Thread: one. Lifetime: stop() has returned before it dies; sink, registry and what the functions
// refer to outlive it. Failure: start() names the address it cannot listen on; a bad report gets an
// answer that says why, and nothing of it is taken.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.hpp"
#include "base/http_server.hpp"
#include "base/metrics.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/api/report.hpp"
#include "operator/controller/bounded_cache.hpp"
#include "operator/controller/token_bucket.hpp"
#include "operator/report/kubeflow.hpp"
#include "operator/report/metrics.hpp"
#include "operator/report/pod_tokens.hpp"
#include "operator/report/reporter.hpp"

namespace amdahl::report {

inline constexpr std::size_t kReportersMax = 16'384;  // connections at once
// Connections from one address that have not shown a pod's token yet: many pods may share one.
inline constexpr std::size_t kStrangersOfAPeerMax = 512;
inline constexpr std::chrono::seconds kStrangerTime{10};
// Connections of one pod: its launcher keeps one, and trainers that speak for themselves a few.
inline constexpr std::size_t kConnectionsOfAPodMax = 8;
inline constexpr std::size_t kPodsLimitedMax = 65'536;
inline constexpr double kReportsPerSecond = 1;  // of one pod
inline constexpr double kReportsBurst = 10;

// What becomes of reports that passed.
class ReportSink {
 public:
  virtual ~ReportSink() = default;
  // Its identity has been replaced by what the cluster knows of the pod. Errc::kUnavailable: there
  // is no place for another job, and nothing was kept.
  virtual Result<api::ReportReply> take(const JobPod& pod, api::Report report) = 0;
  virtual void take_progress(const JobPod& pod, const Progress& progress) = 0;
};

struct EndpointOptions {
  HttpServerOptions http{};
  std::size_t connections_max = kReportersMax;
  FindJobPod find{};
  KnowsPod knows{};
  TokenReview review{};
  // False: this replica does not lead, or its caches are not filled yet. Empty: always.
  std::function<bool()> accepting{};
};

class ReportEndpoint {
 public:
  ReportEndpoint(boost::asio::any_io_executor executor, Clock& clock, MetricsRegistry& registry,
                 EndpointOptions options, ReportSink& sink);

  Task<Result<void>> start() { return http_.start(); }
  Task<Result<void>> stop(Monotonic deadline) { return http_.stop(deadline); }
  std::uint16_t port() const { return http_.port(); }

 private:
  Task<void> serve(HttpRequest request, HttpResponder& responder);
  struct Answer {
    HttpResponse response{};
    ReportResult result = ReportResult::kTaken;
  };
  Task<Result<Answer>> answer(HttpRequest request, HttpResponder& responder);
  Result<void> limit(const JobPod& pod);
  Result<Answer> take(const JobPod& pod, const HttpRequest& request);

  Clock& clock_;
  ReportSink& sink_;
  FindJobPod find_;
  std::function<bool()> accepting_;
  PodTokens tokens_;
  controller::BoundedCache<controller::TokenBucket> rates_{kPodsLimitedMax};
  ReportMetrics metrics_;
  HttpServer http_;
};

}  // namespace amdahl::report
