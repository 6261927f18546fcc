// Whether the processes of a Torchrun or DeepSpeed job belong to one world of the declared size.
//
// A command that runs as it is may start no ranks at all, or a separate world on each node: it
// would end with 0 and have trained the wrong thing. Ranks are known by their environment (RANK and
// WORLD_SIZE, as torchrun, deepspeed and accelerate set them, or MPI's). A world of one needs no
// proof, and torchrun that we started ourselves cannot be of another size. Pure. Thread: one.
// Failure: none; what cannot have been seen is not held against the job.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/launch/settings.hpp"

namespace amdahl::launch {

// Exit code of a container whose command ended with 0 without the world that was declared: as of a
// command that cannot be executed, because the same command will fail the same way again.
inline constexpr int kNoWorldExitCode = 126;

// What the environment of a rank says (NUL between entries); nothing for other processes.
struct Place {
  std::optional<std::int64_t> rank = {};  // nothing: it is no number
  std::int64_t size = 0;
};
std::optional<Place> place_in(std::string_view environment);

class World {
 public:
  static constexpr std::chrono::milliseconds kLook{50};
  // From a launcher to its ranks: an interpreter alone takes as long to start and end.
  static constexpr std::chrono::milliseconds kRankLook{10};
  static constexpr std::int64_t kRankLooksMax = 3000;  // it may wait for other nodes for long
  // A launcher that was seen for fewer looks may have had ranks between two of them. torchrun,
  // deepspeed and accelerate import for longer than that before they start a rank.
  static constexpr std::int64_t kLauncherLooksMin = 10;

  // `wrapped`: we put torchrun before the command.
  World(const Settings& settings, bool wrapped);

  // Still to be looked for.
  bool open() const { return open_; }
  // The files of /proc of a process of the trainer.
  void see(std::string_view environment, std::string_view command_line);
  // A process of the trainer cannot be read, and may be a rank: no world is missed any more.
  void blind() { open_ = false; }
  // All processes of one look were seen.
  void looked();
  // When to look again.
  std::chrono::milliseconds look_in() const;
  // Why a trainer that ended with 0 did not do its work; nothing: no fault was seen.
  std::optional<std::string> fault() const;

 private:
  std::string declared() const;

  Runtime runtime_;
  std::int64_t nodes_;
  std::int64_t processes_;
  bool open_;
  bool launcher_seen_ = false;
  std::int64_t launcher_looks_ = 0;  // since it was seen first
  std::optional<std::int64_t> other_size_;
};

}  // namespace amdahl::launch
