#include "operator/process/operator_process.hpp"

#include <fmt/format.h>

namespace amdahl {
namespace {

constexpr std::chrono::seconds kReportersEnd{5};  // for requests that are being answered

controller::ManagerOptions manager_options(const OperatorOptions& options) {
  return {.election = options.election,
          .status = options.status,
          // An event without an instance is refused.
          .event_source = {.controller = "amdahl.dev/operator",
                           .instance = options.election ? options.election->identity : "local"},
          .on_lost = options.on_lost};
}

}  // namespace

OperatorProcess::OperatorProcess(const controller::Runtime& runtime, Rng rng,
                                 OperatorOptions options)
    : runtime_(runtime),
      clock_(runtime.client.clock()),
      rng_(rng),
      options_(std::move(options)),
      store_reader_(runtime_.executor, clock_, rng_.split(), options_.stores),
      sink_(reports_, clock_),
      manager_(runtime_, rng_.split(), manager_options(options_)),
      endpoint_(runtime_.executor, clock_, runtime_.metrics,
                {.http = options_.report,
                 .find = [this](const kube::ObjectKey& pod) { return find(pod); },
                 .review = report::cluster_token_review(runtime_.client),
                 .accepting = [this] { return manager_.leading(); }},
                sink_) {}

Task<Result<void>> OperatorProcess::run() {
  CO_TRY(co_await endpoint_.start());
  options_.pods.report_url = report_url();
  program_ = std::make_unique<training::TrainingProgram>(
      runtime_, rng_.split(),
      training::TrainingOptions{.ns = options_.ns, .pods = options_.pods, .reader = &store_reader_},
      manager_, reports_);
  job_metrics_ = std::make_unique<training::JobMetrics>(runtime_.metrics, program_->caches().jobs);
  runtime_.log.info("reports are taken", {{"url", options_.pods.report_url}});
  Result<void> ended = co_await manager_.run();
  const auto closed = co_await endpoint_.stop(clock_.monotonic() + kReportersEnd);
  co_return ended ? closed : ended;
}

std::optional<report::JobPod> OperatorProcess::find(const kube::ObjectKey& pod) const {
  return program_ ? find_job_pod(program_->caches(), pod) : std::nullopt;
}

std::string OperatorProcess::report_url() const {
  if (!options_.report_url.empty()) return options_.report_url;
  return fmt::format("{}://{}:{}", options_.report.tls ? "https" : "http", options_.report.address,
                     endpoint_.port());
}

}  // namespace amdahl
