// Waits until a TrainingJob is as wanted, or cannot become so, or time is up.
//
// Thread: one. Lifetime: program outlives the task. Failure: what a first look finds; a job that is
// deleted meanwhile is no error but an answer (kFailed).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/task.hpp"
#include "cli/cluster_access.hpp"
#include "cli/program.hpp"
#include "cli/training_jobs.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace amdahl::cli {

struct WaitEnd {
  std::string said = {};
  int code = kDone;
};
// nullopt: not yet. Looks at the job each time it changed.
using WaitJudge = std::function<std::optional<WaitEnd>(const TrainingJob&)>;

struct WaitOptions {
  std::string what = {};  // "Running", for the message when time is up
  Monotonic deadline = Monotonic::max();
};

// Prints what was said, and gives the exit code: that of the judge, or kTimedOut.
Task<Result<int>> wait_for_job(Program& program, Access access, std::string name, WaitJudge judge,
                               WaitOptions options);

// "--timeout D": 90s, 2h, 0 to look once. Anything else is wrong usage.
void add_timeout_option(CLI::App& verb, std::optional<std::chrono::nanoseconds>& timeout,
                        const std::string& description);
Monotonic deadline_in(const Program& program, std::optional<std::chrono::nanoseconds> timeout);

}  // namespace amdahl::cli
