// The logs of a TrainingJob's ranks: one of them, or all with their rank before each line.
//
// Thread: one. Lifetime: program and client outlive the task. Failure: no such job, rank or
// attempt; the server's own. With --follow a rank that has not started yet is waited for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/task.hpp"
#include "cli/cluster_access.hpp"
#include "cli/program.hpp"
#include "operator/kube/request.hpp"

namespace amdahl::cli {

inline constexpr std::size_t kRanksFollowedMax = 64;  // a connection each

struct RankLogOptions {
  std::string job = {};
  std::optional<std::uint32_t> rank = {};     // default 0
  std::optional<std::uint32_t> attempt = {};  // default the newest
  bool all_ranks = false;
  std::string from = {};  // where the job's checkpoints are as seen from here
  kube::LogOptions log = {};
};

Task<Result<int>> show_rank_logs(Program& program, Access access, RankLogOptions options);

// Copies one log to standard output until it ends.
Task<Result<int>> copy_log(Program& program, Access access, std::string pod, kube::LogOptions log);

}  // namespace amdahl::cli
