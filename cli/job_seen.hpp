// One TrainingJob with its pods and events, as seen at one moment: what all views are made from.
// Plain values, any thread.
#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "cli/training_jobs.hpp"
#include "operator/kube/types_coordination.hpp"
#include "operator/kube/types_pod.hpp"

namespace amdahl::cli {

struct JobSeen {
  TrainingJob job = {};
  std::vector<kube::Pod> pods = {};      // of all attempts that are still there, in any order
  std::vector<kube::Event> events = {};  // about the job itself, in any order
  WallTime now = {};
  std::string called = "amdahl";  // what the user types, for advice
};

}  // namespace amdahl::cli
