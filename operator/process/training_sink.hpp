// Joins the report endpoint with the TrainingJob controller: who reports, and where that goes.
//
// Thread: one. Lifetime: reports, clock and registry outlive it. Failure: Errc::kUnavailable when
// no more jobs can report; what is out of order is dropped and counted by Reports.
#pragma once

#include <chrono>
#include <functional>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "operator/controller/bounded_cache.hpp"
#include "operator/report/endpoint.hpp"
#include "operator/training/caches.hpp"
#include "operator/training/reports.hpp"

namespace amdahl {

inline constexpr std::size_t kProgressPodsMax = 16'384;
// Jobs that are gone are forgotten when the controller hears of it; this is for what it missed.
inline constexpr std::chrono::minutes kReportsSweepEvery{1};
inline constexpr std::chrono::seconds kReportsSweepFullEvery{1};

// The pod as one of the current attempt of a TrainingJob that exists in its own namespace. Labels
// and owner references are what anybody can write: each is compared with the job. Errc::kForbidden
// with the reason for any other pod; the reason names nothing of another namespace.
Result<report::JobPod> find_job_pod(const training::Caches& caches, const kube::ObjectKey& pod);
// What the cache has of this very pod.
report::PodKnown knows_pod(const training::Caches& caches, const report::TokenPod& pod);
// Whether the cache has this very job.
bool has_job(const training::Caches& caches, const training::JobId& job);

class TrainingSink final : public report::ReportSink {
 public:
  using Exists = std::function<bool(const training::JobId&)>;
  TrainingSink(training::Reports& reports, Clock& clock, MetricsRegistry& registry, Exists exists);

  Result<api::ReportReply> take(const report::JobPod& pod, api::Report report) override;
  // Trainers that speak Kubeflow's protocol know neither phases nor checkpoints: what they say
  // fills the gaps of the next report that amdahl-launch sends from the same pod.
  void take_progress(const report::JobPod& pod, const report::Progress& progress) override;

 private:
  bool sweep(std::chrono::nanoseconds every);

  training::Reports& reports_;
  Clock& clock_;
  Exists exists_;
  Monotonic swept_;
  controller::BoundedCache<report::Progress> progress_{kProgressPodsMax};  // by UID of the pod
};

}  // namespace amdahl
