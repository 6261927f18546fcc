// TrainingJobs: observe (caches), decide (pure), apply (the only writer).
//
// Thread: one. Lifetime: caches, reports, looks and events outlive it. Failure: as a Reconciler's;
// what the API server refuses for a reason the user can act upon goes to the job's status instead.
#pragma once

#include <map>
#include <set>

#include "base/metrics.hpp"
#include "operator/controller/event_recorder.hpp"
#include "operator/controller/reconciler.hpp"
#include "operator/training/caches.hpp"
#include "operator/training/checkpoint_looks.hpp"
#include "operator/training/decide.hpp"
#include "operator/training/pause_watch.hpp"
#include "operator/training/reports.hpp"
#include "operator/training/status_metrics.hpp"

namespace amdahl::training {

class TrainingReconciler final : public controller::Reconciler {
 public:
  struct Seams {
    const Caches& caches;
    Reports& reports;
    CheckpointLooks& looks;
    kube::Client& client;
    controller::EventRecorder& events;
    MetricsRegistry& metrics;
    Log log = {};
  };
  TrainingReconciler(const Seams& seams, PodOptions options)
      : caches_(seams.caches),
        reports_(seams.reports),
        looks_(seams.looks),
        client_(seams.client),
        events_(seams.events),
        status_refused_(status_refused_counter(seams.metrics)),
        log_(seams.log),
        options_(std::move(options)) {}

  Task<Result<controller::Outcome>> reconcile(kube::ObjectKey key,
                                              controller::Reconcile context) override;

  void on_exception(const kube::ObjectKey& key, const Error& error) override;

  Observed observe(const kube::ObjectKey& key, std::int64_t epoch, Moment now) const;

 private:
  // One pass: what is written with, and for whom.
  struct Pass {
    const Observed& seen;
    JobPtr job = {};  // as seen, or as if; see Plan
    controller::Writer& writer;
    kube::ObjectKey key{};
    Moment now{};
  };
  Task<Result<controller::Outcome>> apply(Pass pass, Plan plan);
  Task<Result<bool>> confirmed(Pass pass, std::vector<std::string> names);
  Task<Result<bool>> still_unrecorded(Pass pass);
  Task<Result<void>> clear(Pass pass, Plan& plan);
  Task<Result<void>> make(Pass pass, Plan& plan);
  Task<Result<void>> make_gang(Pass pass, Plan& plan);
  Task<Result<bool>> send_status(Pass pass, api::TrainingJobStatus status);
  Task<Result<void>> write_status(Pass pass, Plan& plan);
  Task<Result<void>> remove_job(Pass pass);
  Task<Result<controller::Outcome>> refused(Pass pass, Error error);
  Task<Result<void>> release_one(Pass pass, PodRelease which);
  Task<Result<void>> delete_one(Pass pass, PodDelete which);
  Task<Result<void>> create_one(Pass pass, std::uint32_t rank);
  void record_events(const Pass& pass, const Plan& plan);
  void log_decision(const Pass& pass, const Plan& plan) const;

  const Caches& caches_;
  Reports& reports_;
  CheckpointLooks& looks_;
  kube::Client& client_;
  controller::EventRecorder& events_;
  Counter status_refused_;
  Log log_;
  PodOptions options_;
  struct Known {  // of jobs that exist
    std::string uid = {};
    std::optional<Monotonic> status_written = {};
    PauseWatch pause = {};
  };
  // What the process keeps of a job goes with it.
  void forget_if_gone(const kube::ObjectKey& key, const JobPtr& job);
  std::map<kube::ObjectKey, Known> known_;
  // Pods that are gone with their last finalizer, by UID, until the cache has heard of it: the
  // version that such a patch answers with is older than the deletion that follows from it.
  void forget_released(const kube::ObjectKey& key, const Observed& seen);
  std::map<kube::ObjectKey, std::set<std::string>> released_;
  std::optional<Monotonic> leading_since_;  // the first call
  // Of one moment, for all jobs that wait; made anew when one asks for it and it is old.
  std::int64_t gpus_held_by(const GangPodPtr& pod) const;
  NodesPtr nodes_seen(Monotonic now);
  NodesPtr nodes_;
  Monotonic nodes_made_{};
};

}  // namespace amdahl::training
