// The TrainingJob controller with its caches and watches, put together.
//
// Thread: one. Lifetime: outlives the manager's run(); manager and reports outlive it. Failure:
// none of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "operator/controller/controller.hpp"
#include "operator/controller/manager.hpp"
#include "operator/kube/watcher.hpp"
#include "operator/training/job_sink.hpp"
#include "operator/training/reconciler.hpp"

namespace amdahl::training {

struct TrainingOptions {
  std::string ns = {};  // empty: all namespaces
  PodOptions pods = {};
  CheckpointReader* reader = nullptr;  // outlives the program; null: nobody looks at checkpoints
  // A worker spends its time waiting for the API server, one write after another: many jobs that
  // come at once wait for each other otherwise. Requests in flight are bounded by the client (E7).
  controller::ControllerOptions controller = {.name = "trainingjob", .workers = 32};
};

class TrainingProgram {
 public:
  TrainingProgram(const controller::Runtime& runtime, Rng rng, TrainingOptions options,
                  controller::Manager& manager, Reports& reports);

  Caches& caches() { return caches_; }
  controller::Controller& controller() { return controller_; }

 private:
  void watch_events();
  void watch(kube::WatcherOptions options, kube::ObjectSink& store, controller::Source& source);
  std::vector<Sample> watch_restarts() const;

  kube::Client& client_;
  Log log_;
  Rng rng_;
  std::string ns_;
  controller::Manager& manager_;
  Caches caches_;
  JobSink job_sink_;
  CheckpointLooks looks_;
  std::vector<std::unique_ptr<kube::Watcher>> watchers_;
  std::vector<std::string> watched_;  // what each of them watches
  TrainingReconciler reconciler_;
  controller::Controller controller_;
};

}  // namespace amdahl::training
