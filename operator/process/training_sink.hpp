// Joins the report endpoint with the TrainingJob controller: who reports, and where that goes.
//
// Thread: one. Lifetime: reports, caches and clock outlive it. Failure: none; what is over a bound
// is dropped and counted by Reports.
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "operator/controller/bounded_cache.hpp"
#include "operator/report/endpoint.hpp"
#include "operator/training/caches.hpp"
#include "operator/training/reports.hpp"

namespace amdahl {

inline constexpr std::size_t kProgressPodsMax = 16'384;

// A pod of a TrainingJob as the cache has it; none when the name or its labels are not ours.
std::optional<report::JobPod> find_job_pod(const training::Caches& caches,
                                           const kube::ObjectKey& pod);

class TrainingSink final : public report::ReportSink {
 public:
  TrainingSink(training::Reports& reports, Clock& clock) : reports_(reports), clock_(clock) {}

  api::ReportReply take(const report::JobPod& pod, api::Report report) override;
  // Trainers that speak Kubeflow's protocol know neither phases nor checkpoints: what they say
  // fills the gaps of the next report that amdahl-launch sends from the same pod.
  void take_progress(const report::JobPod& pod, const report::Progress& progress) override;

 private:
  training::Reports& reports_;
  Clock& clock_;
  controller::BoundedCache<report::Progress> progress_{kProgressPodsMax};  // by UID of the pod
};

}  // namespace amdahl
