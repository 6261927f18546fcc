// One program, run to its end without a shell.
//
// Thread: the io_context's. Lifetime: the child never outlives the task: at the deadline, when the
// task is cancelled or destroyed, the child and its process group get SIGKILL and are reaped.
// Failure: kNotFound when the program cannot be started, kTimeout, kCancelled, kTooLarge when it
// prints more than stdout_max. An exit code other than zero is not a failure here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace amdahl::kube {

struct SubprocessSpec {
  std::vector<std::string> arguments = {};  // [0] is the path of the program; PATH is not searched
  std::vector<std::string> environment = {};  // "NAME=value", all of it
  std::size_t stdout_max = std::size_t{1} << 20;
  std::size_t stderr_max = 4096;  // what is kept; the rest is read and dropped
  bool interactive = false;       // shares our standard input and standard error
};

struct SubprocessOutcome {
  int exit_code = 0;  // -1 when a signal ended it
  int signal = 0;
  std::string out = {};
  std::string err = {};
};

Task<Result<SubprocessOutcome>> run_subprocess(SubprocessSpec spec, Clock& clock,
                                               Monotonic deadline);

}  // namespace amdahl::kube
