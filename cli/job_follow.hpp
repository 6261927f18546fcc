// Shows a TrainingJob until it ends: redrawn on a terminal, elsewhere lines of what changed.
//
// Thread: one. Lifetime: program and job outlive the task. Failure: a watch that is refused.
#pragma once

#include "base/result.hpp"
#include "base/task.hpp"
#include "cli/live_job.hpp"
#include "cli/program.hpp"

namespace amdahl::cli {

// kDone when it succeeded, kFailed when it failed, was cancelled or was deleted.
Task<Result<int>> follow_job(Program& program, LiveJob& live);

}  // namespace amdahl::cli
