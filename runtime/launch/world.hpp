// Whether the processes of a Torchrun or DeepSpeed job belong to one world of the declared size.
//
// A command that runs as it is may start no ranks at all, or a separate world on each node: it
// would end with 0 and have trained the wrong thing. Ranks are known by their environment (RANK and
// WORLD_SIZE, as torchrun, deepspeed and accelerate set them, or MPI's). A world of one needs no
// proof, and torchrun that we started ourselves cannot be of another size. Pure. Thread: one.
// Failure: none; what cannot be seen is not held against the job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/launch/settings.hpp"

namespace amdahl::launch {

// Exit code of a container whose command ended with 0 without the world that was declared: as of a
// command that cannot be executed, because the same command will fail the same way again.
inline constexpr int kNoWorldExitCode = 126;

// WORLD_SIZE of the environment of a rank (NUL between entries); nothing for other processes.
std::optional<std::int64_t> world_size_in(std::string_view environment);

class World {
 public:
  // `wrapped`: we put torchrun before the command.
  World(const Settings& settings, bool wrapped);

  // Still to be looked for.
  bool open() const { return open_; }
  // The files of /proc of a process of the trainer.
  void see(std::string_view environment, std::string_view command_line);
  // Why a trainer that ended with 0 did not do its work; nothing: no fault was seen.
  std::optional<std::string> fault() const;

 private:
  std::string declared() const;

  Runtime runtime_;
  std::int64_t nodes_;
  std::int64_t processes_;
  bool open_;
  bool launcher_seen_ = false;  // its ranks may have ended before anybody looked
  std::optional<std::int64_t> other_size_;
};

}  // namespace amdahl::launch
