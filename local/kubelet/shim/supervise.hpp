// Runs one program and everything it starts, until the program has ended or it is told to stop.
//
// In a pid namespace it is process 1, so that the kernel ends the rest with it; without one it is
// the reaper of all orphans below it and ends them itself. Thread: the shim's only one. Failure:
// told on kShimStatusFd.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "local/kubelet/shim_spec.hpp"

namespace amdahl::local {

inline constexpr int kMemoryWatchMs = 200;

void say(std::string_view line);  // on kShimStatusFd
bool over_memory(pid_t root, std::int64_t limit);

// In the child: becomes the program. Returns only when that failed, with the reason.
Error become_program(const ShimSpec& spec);

// In the parent, with SIGCHLD blocked, after the program runs. Returns when nothing is left.
Result<void> supervise(pid_t program, const ShimSpec& spec);

}  // namespace amdahl::local
