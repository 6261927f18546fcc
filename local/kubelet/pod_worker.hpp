// Turns pods that are bound to our nodes into processes, and what becomes of them into status.
//
// A reconciler: look at the pod and at its processes, decide (lifecycle.hpp), do it, write the
// status once. Thread: one. Lifetime: client, stores and task group outlive it; stop() has
// returned before it dies. Failure: a pod that cannot start says why in its status and is tried
// again; a write that fails is retried by the controller.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/deadline.hpp"
#include "base/log.hpp"
#include "base/task_group.hpp"
#include "local/kubelet/container_spec.hpp"
#include "local/kubelet/kept_logs.hpp"
#include "local/kubelet/memory_cgroup.hpp"
#include "local/kubelet/node_room.hpp"
#include "operator/controller/event_recorder.hpp"
#include "operator/controller/reconciler.hpp"
#include "operator/controller/store.hpp"
#include "operator/kube/types_core.hpp"

namespace amdahl::local {

inline constexpr std::chrono::seconds kStartRetry{5};  // of what cannot start yet

// What a worker needs from the kubelet around it.
struct WorkerContext {
  kube::Client& client;
  TaskGroup& tasks;
  const controller::Store<Pod>& pods;
  const controller::Store<kube::Service>& services;
  controller::EventRecorder& events;
  const KubeletOptions& options;
  KeptLogs& kept;
  Log log;
};

class PodWorker final : public controller::Reconciler {
 public:
  using Wake = std::function<void(const kube::ObjectKey&)>;

  PodWorker(WorkerContext context, Wake wake);

  // Before the first reconcile.
  void use(Isolation isolation, std::optional<MemoryCgroups> cgroups);
  Task<Result<controller::Outcome>> reconcile(kube::ObjectKey key,
                                              controller::Reconcile context) override;

  void refuse_starts() { stopping_ = true; }
  // Asks every process to end, kills what is left after its pod's grace or shortly before the
  // deadline, and waits for all.
  Task<void> stop(Monotonic deadline);
  // The writer of a container's log while it runs.
  std::shared_ptr<LogWriter> open_log(const std::string& uid, const std::string& container) const;
  void update_hosts(const std::string& ns);
  std::size_t active() const;  // containers with processes

 private:
  using Entry = std::shared_ptr<PodEntry>;

  Task<Result<controller::Outcome>> work(Entry entry, controller::Reconcile context);
  Task<bool> apply(Entry entry, PodPlan plan, WallTime now);  // true: look again soon
  Task<Result<void>> prepare_volumes(Entry entry, WallTime now);
  Task<bool> start_container(Entry entry, std::size_t index);
  Task<Result<void>> launch(Entry entry, std::size_t index);
  Task<Result<void>> write_status(const Entry& entry, controller::Reconcile& context);
  Task<Result<void>> finish_delete(const Entry& entry);
  Task<Result<controller::Outcome>> drop(const Pod& pod);
  Task<void> keep_logs(Entry entry);
  Task<bool> forget(kube::ObjectKey key);  // false: its processes are still there

  Entry admit(const std::shared_ptr<const Pod>& pod, WallTime now);
  bool room_is_leaving(const Pod& pod) const;
  void take_gpus(PodEntry& entry);
  void cannot_start(PodEntry& entry, std::size_t index, const Error& error, std::string reason);
  void ended(const Entry& entry, std::size_t index, ProgramEnd end);
  void release(PodEntry& entry);
  void tell(const PodEntry& entry, controller::EventType type, std::string reason,
            std::string note);
  bool is_ours(const std::string& node) const;
  std::string hosts_file(const std::string& ns) const;

  WorkerContext context_;
  Clock& clock_;
  Wake wake_;
  Isolation isolation_;
  std::optional<MemoryCgroups> cgroups_;
  std::map<kube::ObjectKey, Entry> entries_;
  std::map<std::string, std::shared_ptr<LogWriter>> logs_;  // by folder, while they are written
  std::map<std::string, GpuSlots> slots_;                   // by node
  Addresses addresses_;
  Notify ended_;
  bool stopping_ = false;
};

}  // namespace amdahl::local
