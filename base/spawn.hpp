// Starts a program without a shell and without a copy of this process.
//
// The child gets exactly the file descriptors that are named, a clean signal mask and default
// signal handlers. Thread: any. Lifetime: whoever gets the pid reaps it. Failure: kNotFound when
// the program is not there, kInvalid for a zero byte in an argument, kIo for anything else.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace amdahl {

struct SpawnSpec {
  std::vector<std::string> arguments = {};  // [0] is the path of the program; PATH is not searched
  std::vector<std::string> environment = {};  // "NAME=value", all of it
  std::vector<std::pair<int, int>> fds = {};  // ours, and the child's number below kFdLow
  bool null_input = true;                     // 0 is /dev/null
  bool own_group = true;                      // a process group of its own
};

struct Spawned {
  pid_t pid = -1;
  Fd pidfd = {};  // readable when the child has ended
};

Result<Spawned> spawn(SpawnSpec spec);

}  // namespace amdahl
