// Keeps the Node objects of the declared nodes: registers them, renews them, says goodbye.
//
// Thread: one. Lifetime: client and options outlive the tasks. Failure: see client.hpp.
#pragma once

#include <chrono>
#include <string>

#include "base/log.hpp"
#include "base/task.hpp"
#include "local/kubelet/node_object.hpp"
#include "operator/kube/client.hpp"

namespace amdahl::local {

inline constexpr std::chrono::minutes kHeartbeat{5};  // as real kubelets report

class NodeKeeper {
 public:
  NodeKeeper(kube::Client& client, const KubeletOptions& options, Log log)
      : client_(client), options_(options), log_(std::move(log)) {}

  // Creates what is missing, marks all ready, and removes nodes of an earlier life that are not
  // declared any more.
  Task<Result<void>> start();
  Task<void> keep();  // until cancelled
  Task<Result<void>> stop();

 private:
  Task<Result<void>> put_status(NodeState state);
  Task<Result<void>> remove_undeclared();
  Task<Result<void>> clear_taint(std::string node);

  kube::Client& client_;
  const KubeletOptions& options_;
  Log log_;
  WallTime ready_since_{};
};

}  // namespace amdahl::local
