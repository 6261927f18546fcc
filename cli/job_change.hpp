// What pause, resume and cancel share: ask for each job, wait if told to, say what became of it.
//
// Thread: one. Failure: of one job does not stop the others; the exit code is the worst of all.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/cluster_access.hpp"
#include "cli/job_wish.hpp"
#include "cli/program.hpp"

namespace amdahl::cli {

inline constexpr std::chrono::minutes kChangeWaitDefault{10};

struct ChangeOptions {
  AccessOptions access = {};
  std::vector<std::string> names = {};
  bool wait = false;
  bool lose_steps = false;  // of pause only
  std::optional<std::chrono::nanoseconds> timeout = kChangeWaitDefault;
};

void add_change_options(CLI::App& verb, ChangeOptions& options);
Result<int> change_jobs(Program& program, const ChangeOptions& options, Wish wish);

}  // namespace amdahl::cli
