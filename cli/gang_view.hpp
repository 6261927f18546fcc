// The pods of a TrainingJob as lines: a tree of attempts and ranks.
//
// Pure, any thread. Failure: none.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/job_seen.hpp"

namespace amdahl::cli {

inline constexpr std::size_t kPodLinesMax = 64;  // of one attempt; those in trouble come first

struct RankPod {
  std::uint32_t attempt = 0;
  std::uint32_t rank = 0;
  const kube::Pod* pod = nullptr;
};
// Newest attempt first, then by rank. Pods without the labels of a gang are left out. Points into
// `pods`, which must outlive it.
std::vector<RankPod> by_rank(const std::vector<kube::Pod>& pods);

// "Running", "Pending: ImagePullBackOff", "Failed: OOMKilled, exit 137, 2 restarts".
std::string pod_state(const kube::Pod& pod);

// "attempt 2: 2 of 2 pods running" and a branch for each rank; empty when there is no pod.
std::string gang_tree(const JobSeen& seen);

}  // namespace amdahl::cli
