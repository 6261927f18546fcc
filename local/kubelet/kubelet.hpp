// The kubelet of the embedded cluster: pods of its declared nodes are processes of this machine.
//
//   Kubelet kubelet({.executor = ..., .client = client, ...}, rng.split(), options);
//   tasks.spawn("kubelet", kubelet.run());
//   ...
//   co_await kubelet.stop(clock.monotonic() + 10s);   // no process of a pod is left
//
// Thread: one. Lifetime: client and registry outlive it; run() has returned before it dies.
// Failure: run() fails when the shim or the data folder cannot be used, or a node cannot be
// registered; after that it ends only by stop() or cancellation.
#pragma once

#include <memory>

#include "base/rng.hpp"
#include "local/apiserver/core/pod_logs.hpp"
#include "local/kubelet/options.hpp"
#include "operator/controller/controller.hpp"

namespace amdahl::local {

class Kubelet final : public PodLogs {
 public:
  Kubelet(controller::Runtime runtime, Rng rng, KubeletOptions options);
  ~Kubelet() override;
  Kubelet(const Kubelet&) = delete;
  Kubelet& operator=(const Kubelet&) = delete;

  // Registers the nodes and runs their pods until stop().
  Task<Result<void>> run();
  // Ends every pod's processes (SIGTERM, then SIGKILL), says that the nodes are not ready, and
  // makes run() return. What is left at the deadline is killed. Pods keep their status: the next
  // life finds them and restarts or fails them by their restartPolicy.
  Task<void> stop(Monotonic deadline);

  Outcome<std::unique_ptr<WatchStream>> open(const LogQuery& query) override;
  Outcome<std::unique_ptr<WatchStream>> open_kept(const LogQuery& query) override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace amdahl::local
