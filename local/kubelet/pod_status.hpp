// A pod's status from the life of its containers, in Kubernetes' words. Pure.
#pragma once

#include "local/kubelet/lifecycle.hpp"

namespace amdahl::local {

// Conditions keep the time of their last change, and those of others are kept as they are.
PodStatus pod_status(const Pod& pod, const PodLife& life, WallTime now);

// How a container ended. A signal is also an exit code, 128 + number.
struct ProgramEnd {
  int exit_code = 0;
  int signal = 0;
  bool out_of_memory = false;
  std::string start_problem = {};  // it never ran
};
Terminated terminated(const ProgramEnd& end, std::optional<WallTime> started, WallTime now,
                      std::string message);

}  // namespace amdahl::local
