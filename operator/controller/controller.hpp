// Runs a Reconciler over the keys its sources name.
//
// Sources fill the queue from the start, also in a follower (E5); run() starts the workers when
// every source has delivered its first set (L14). Each reconcile passes the write gate first (W2).
//
// Thread: one. Lifetime: sources, reconciler, client and registry outlive it; run() has returned
// before it dies. Failure: run() returns Errc::kFenced when a write was refused because this
// process may no longer lead; everything else is retried, logged and counted. A reconcile that
// throws is a terminal error of its key.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "base/task_group.hpp"
#include "operator/controller/metrics.hpp"
#include "operator/controller/reconciler.hpp"
#include "operator/controller/source.hpp"
#include "operator/controller/work_queue.hpp"
#include "operator/controller/write_gate.hpp"
#include "operator/kube/client.hpp"

namespace amdahl::controller {

// What a controller needs from the process it runs in.
struct Runtime {
  boost::asio::any_io_executor executor;
  kube::Client& client;
  MetricsRegistry& metrics;
  Log log;
};

struct ControllerOptions {
  std::string name{};       // "trainingjob"; also a metric label
  std::size_t workers = 4;  // Q9
  std::chrono::nanoseconds reconcile_deadline = std::chrono::seconds{60};  // Q6
  // Every object is looked at again after this long, or up to twice as long (Q8).
  std::chrono::nanoseconds full_pass = std::chrono::hours{8};
  std::string field_manager = "amdahl-operator";
};

class Controller {
 public:
  using MapToKeys = std::function<std::vector<ObjectKey>(const Change&)>;

  Controller(Runtime runtime, Rng rng, ControllerOptions options, Reconciler& reconciler);
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // All before the sources start. `reconciles` is the kind whose keys are reconciled; of its
  // updates only those that changed_for_reconcile() count (Q7).
  void reconciles(Source& primary);
  void owns(Source& children);                         // wakes the controller owner
  void watches(Source& other, MapToKeys map_to_keys);  // wakes whatever the function names

  bool synced() const;
  const std::string& name() const { return options_.name; }
  WorkQueue& queue() { return queue_; }

  // Works until stop(), cancellation or the fence.
  Task<Result<void>> run(Epoch epoch);
  void stop();  // no new reconcile begins; run() returns when those that run have ended

 private:
  void subscribe(Source& source, ChangeHandler handler);
  Task<void> work();
  Task<void> process(ObjectKey key);
  Task<Result<Outcome>> guarded(ObjectKey key, Reconcile context);
  bool gate_allows(const ObjectKey& key, bool& caches_unproven);
  void finish(const ObjectKey& key, const Result<Outcome>& result, std::chrono::nanoseconds took);
  void succeeded(const ObjectKey& key, const Outcome& outcome);
  void failed(const ObjectKey& key, const Error& error, std::chrono::nanoseconds took);
  std::optional<std::string> cache_version(std::string_view kind) const;

  Runtime runtime_;
  Clock& clock_;
  Rng rng_;
  ControllerOptions options_;
  Reconciler& reconciler_;
  Log log_;
  QueueMetrics queue_metrics_;
  ReconcileMetrics metrics_;
  WorkQueue queue_;
  WriteGate gate_;
  std::vector<Source*> sources_;
  Source* primary_ = nullptr;
  Epoch epoch_{};
  bool stopping_ = false;
  std::optional<Error> fenced_;
};

}  // namespace amdahl::controller
