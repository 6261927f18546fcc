// Marks the pod of the leader with a label, so that a Service can send reports to it alone.
//
// A replica that waits is healthy and Ready, or a rollout of two replicas would never end; but it
// takes no reports. The leader labels its own pod, and takes the label from every other one: a
// process that lost the lease may no longer write, and its pod may still have the label.
//
// Thread: one. Lifetime: the client and what `leading` refers to outlive it. Failure: none; a write
// that fails is logged and tried again.
#pragma once

#include <functional>
#include <string_view>

#include "base/log.hpp"
#include "base/task.hpp"
#include "operator/kube/client.hpp"
#include "operator/kube/request.hpp"

namespace amdahl {

inline constexpr std::string_view kLeaderLabel = "amdahl.dev/leader";

class LeaderLabel {
 public:
  LeaderLabel(kube::Client& client, Log log, kube::ObjectKey pod, std::function<bool()> leading);
  Task<void> run();  // until cancelled

 private:
  Task<Result<void>> mark();

  kube::Client& client_;
  Log log_;
  kube::ObjectKey pod_;
  std::function<bool()> leading_;
};

}  // namespace amdahl
