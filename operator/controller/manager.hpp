// Starts and stops the parts of an operator in the right order (E6).
//
//   start: probes and metrics -> caches -> leadership -> workers
//   stop:  workers (drained) -> lease -> caches -> probes and metrics
//
// A follower fills its caches and queues and waits (E5). Who loses the lease ends at once (E2).
//
// Thread: one. Lifetime: outlives everything that was added; run() has returned before it dies.
// Failure: run() returns an error when it could not start, or Errc::kFenced when leadership was
// lost and on_lost returned.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/deadline.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "base/task_group.hpp"
#include "operator/controller/controller.hpp"
#include "operator/controller/event_recorder.hpp"
#include "operator/controller/leader_election.hpp"
#include "operator/controller/metrics.hpp"
#include "operator/controller/source.hpp"
#include "operator/controller/status_server.hpp"

namespace amdahl::controller {

struct ManagerOptions {
  std::optional<LeaderElectionOptions> election{};  // none: this process always leads
  StatusServerOptions status{};
  EventSource event_source{};
  std::chrono::nanoseconds drain = std::chrono::seconds{30};  // for reconciles that run (E4)
  // Called when leadership is lost, before anything else; a real process ends in here.
  std::function<void(const Error&)> on_lost{};
};

class Manager {
 public:
  using Run = std::function<Task<void>()>;

  Manager(Runtime runtime, Rng rng, ManagerOptions options);
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // Before run(). `run` feeds the source until it is cancelled: [&] { return watcher.run(); }.
  void add_source(Source& source, Run run);
  void add(Controller& controller);
  // Anything else that lives as long as the caches, leader or not.
  void add_background(std::string name, Run run);

  EventRecorder& events() { return events_; }

  Task<Result<void>> run();
  void stop();  // the orderly end; for the first SIGTERM

  bool leading() const { return leading_; }
  std::string not_ready() const;  // "" when ready
  std::string not_live() const;
  std::uint16_t probe_port() const { return status_.probe_port(); }

 private:
  struct Feed {
    Source* source = nullptr;
    Run run{};
  };
  struct Background {
    std::string name{};
    Run run{};
  };
  void start_background();
  Task<void> beat();
  Task<void> lead();
  Task<void> work(Controller& controller, Epoch epoch);
  void lost(const Error& why);
  Task<void> drain_workers();
  Task<void> give_up_lease();
  Task<void> shut_down();

  Runtime runtime_;
  Clock& clock_;
  ManagerOptions options_;
  Log log_;
  LeaderMetrics leader_metrics_;
  EventMetrics event_metrics_;
  LoopMetrics loop_metrics_;
  std::unique_ptr<LeaderElection> election_;
  EventRecorder events_;
  StatusServer status_;
  std::vector<Feed> feeds_;
  std::vector<Background> backgrounds_;
  std::vector<Controller*> controllers_;
  TaskGroup background_tasks_;
  TaskGroup leadership_task_;
  TaskGroup worker_tasks_;
  Notify changed_;
  Monotonic beat_at_{};
  bool leading_ = false;
  bool stop_asked_ = false;
  std::optional<Error> lost_;
};

}  // namespace amdahl::controller
