#include "operator/process/operator_process.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/descriptor_limit.hpp"
#include "operator/process/build_metrics.hpp"

namespace amdahl {
namespace {

constexpr std::chrono::seconds kReportersEnd{5};  // for requests that are being answered

controller::ManagerOptions manager_options(const OperatorOptions& options, kube::Client& client) {
  controller::StatusServerOptions status = options.status;
  if (options.guard_metrics) status.metrics_access = controller::cluster_review(client);
  return {.election = options.election,
          .status = std::move(status),
          // An event without an instance is refused.
          .event_source = {.controller = "amdahl.dev/operator",
                           .instance = options.election ? options.election->identity : "local"},
          .on_lost = options.on_lost};
}

}  // namespace

std::size_t reporters_max(std::size_t descriptor_limit) {
  const std::size_t reserve = std::min(kDescriptorReserve, descriptor_limit / 2);
  return std::min(report::kReportersMax, descriptor_limit - reserve);
}

OperatorProcess::OperatorProcess(const controller::Runtime& runtime, Rng rng,
                                 OperatorOptions options)
    : requests_(runtime.client.transport(), runtime.client.clock(), runtime.metrics),
      client_(requests_, runtime.client.clock(), rng.split(), runtime.client.options()),
      runtime_{.executor = runtime.executor,
               .client = client_,
               .metrics = runtime.metrics,
               .log = runtime.log},
      clock_(runtime.client.clock()),
      rng_(rng),
      options_(std::move(options)),
      store_reader_(runtime_.executor, clock_, rng_.split(), options_.stores),
      sink_(reports_, clock_, runtime_.metrics,
            [this](const training::JobId& job) {
              return program_ && has_job(program_->caches(), job);
            }),
      manager_(runtime_, rng_.split(), manager_options(options_, runtime_.client)),
      endpoint_(runtime_.executor, clock_, runtime_.metrics, endpoint_options(), sink_) {
  show_build(runtime_.metrics, AMDAHL_VERSION);
}

report::EndpointOptions OperatorProcess::endpoint_options() {
  return {
      .http = options_.report,
      .connections_max = reporters_max(descriptor_limit()),
      .find = [this](const kube::ObjectKey& pod) { return find_job_pod(program_->caches(), pod); },
      .knows = [this](const report::TokenPod& pod) { return knows_pod(program_->caches(), pod); },
      .review = report::cluster_token_review(runtime_.client),
      // With caches that are not filled, every pod would look like a stranger.
      .accepting =
          [this] { return program_ && manager_.leading() && manager_.not_ready().empty(); }};
}

void OperatorProcess::warn_of_plain_metrics() const {
  const controller::StatusServerOptions& status = options_.status;
  const HttpServerOptions& metrics = status.metrics ? *status.metrics : status.probes;
  if (!options_.guard_metrics || metrics.tls) return;
  runtime_.log.warning(
      "metrics are served over plain HTTP, so their readers send tokens unencrypted; set "
      "--metrics-address together with --report-cert and --report-key",
      {{"address", metrics.address}});
}

Task<Result<void>> OperatorProcess::run() {
  warn_of_plain_metrics();
  CO_TRY(co_await endpoint_.start());
  options_.pods.report_url = report_url();
  program_ = std::make_unique<training::TrainingProgram>(
      runtime_, rng_.split(),
      training::TrainingOptions{.ns = options_.ns, .pods = options_.pods, .reader = &store_reader_},
      manager_, reports_);
  job_metrics_ =
      std::make_unique<training::JobMetrics>(runtime_.metrics, program_->caches().jobs, clock_);
  if (!options_.pod.name.empty()) {
    leader_label_ = std::make_unique<LeaderLabel>(runtime_.client, runtime_.log, options_.pod,
                                                  [this] { return manager_.leading(); });
    manager_.add_background("leader label", [this] { return leader_label_->run(); });
  }
  runtime_.log.info("reports are taken", {{"url", options_.pods.report_url}});
  Result<void> ended = co_await manager_.run();
  const auto closed = co_await endpoint_.stop(clock_.monotonic() + kReportersEnd);
  co_return ended ? closed : ended;
}

std::string OperatorProcess::report_url() const {
  if (!options_.report_url.empty()) return options_.report_url;
  return fmt::format("{}://{}:{}", options_.report.tls ? "https" : "http", options_.report.address,
                     endpoint_.port());
}

}  // namespace amdahl
