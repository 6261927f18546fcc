// The operator as a whole: manager, TrainingJob controller, report endpoint, metrics of jobs.
//
//   OperatorProcess process(runtime, rng, options);
//   ... process.stop() on SIGTERM ...
//   CO_TRY(co_await process.run());
//
// Used by amdahl-operator and, in the process of the embedded cluster, by `amdahl local up`.
// Thread: one. Lifetime: what the runtime refers to outlives it; run() has returned before it dies.
// Failure: run() names the address it cannot listen on, or says why the lease was lost.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/http_server.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "operator/controller/manager.hpp"
#include "operator/kube/counted_transport.hpp"
#include "operator/process/leader_label.hpp"
#include "operator/process/store_reader.hpp"
#include "operator/process/training_sink.hpp"
#include "operator/training/job_metrics.hpp"
#include "operator/training/program.hpp"

namespace amdahl {

// Descriptors that reports leave to the API client, the lease, metrics and files.
inline constexpr std::size_t kDescriptorReserve = 512;
static_assert(2 * controller::kStatusConnectionsMax < kDescriptorReserve / 2,
              "probes and metrics leave most of the reserve to the rest");
std::size_t reporters_max(std::size_t descriptor_limit);

struct OperatorOptions {
  std::string ns = {};  // empty: all namespaces
  std::optional<controller::LeaderElectionOptions> election = {};
  controller::StatusServerOptions status = {};
  HttpServerOptions report = {};
  // How pods reach the report endpoint: "https://amdahl-operator.amdahl-system:8443". Empty: by
  // its address on this machine.
  std::string report_url = {};
  // Readers of metrics show a token of an account that may get /metrics.
  bool guard_metrics = false;
  kube::ObjectKey pod = {};        // of this process; labelled while it leads. Empty: no pod
  StoreReaderOptions stores = {};  // where checkpoints are looked at
  training::PodOptions pods = {};  // its report_url is filled in
  std::function<void(const Error&)> on_lost = {};  // ends the process, when there is an election
};

class OperatorProcess {
 public:
  OperatorProcess(const controller::Runtime& runtime, Rng rng, OperatorOptions options);
  OperatorProcess(const OperatorProcess&) = delete;
  OperatorProcess& operator=(const OperatorProcess&) = delete;

  Task<Result<void>> run();
  void stop() { manager_.stop(); }

  const controller::Manager& manager() const { return manager_; }
  std::uint16_t report_port() const { return endpoint_.port(); }

 private:
  report::EndpointOptions endpoint_options();
  std::string report_url() const;
  void warn_of_plain_metrics() const;

  kube::CountedTransport requests_;
  kube::Client client_;
  controller::Runtime runtime_;
  Clock& clock_;
  Rng rng_;
  OperatorOptions options_;
  training::Reports reports_;
  StoreReader store_reader_;
  TrainingSink sink_;
  controller::Manager manager_;
  report::ReportEndpoint endpoint_;
  // Made by run(): pods are told the port of the endpoint, which is known when it listens.
  std::unique_ptr<training::TrainingProgram> program_;
  std::unique_ptr<training::JobMetrics> job_metrics_;
  std::unique_ptr<LeaderLabel> leader_label_;
};

}  // namespace amdahl
