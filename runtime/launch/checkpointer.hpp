// The third process of the launcher: writes and commits what the trainer's processes have copied,
// also when they are dead (checkpoint/engine/agent.hpp).
//
// It waits in poll() and takes no memory until the first trainer connects. Thread: one, and those
// of the agent. Lifetime: until `control` can be read and everything that was handed over is done.
// Failure: one line for people; the trainer writes its checkpoints itself then.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "checkpoint/engine/agent_rank.hpp"
#include "runtime/launch/channel.hpp"
#include "runtime/launch/variables.hpp"

namespace amdahl::launch {

struct CheckpointerOptions {
  Fd listener = {};  // of checkpoint::listen_for_trainers()
  Fd control = {};
  Channel commits{Fd()};     // to the observer
  Variables variables = {};  // the environment, for credentials
  std::uint64_t seed = 1;
  std::function<void(std::string_view)> complain{};
};

// The process's exit code.
int run_checkpointer(Clock& clock, CheckpointerOptions options);

// What the observer is told of a commit; the same line as the Python package's.
std::string committed_line(const checkpoint::AgentSaved& saved);
// And of a save that could not be written.
std::string save_failed_line(const checkpoint::AgentSaved& saved);

}  // namespace amdahl::launch
