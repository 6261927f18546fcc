// The checkpoint agent: writes and commits what the trainers of a node have copied into memory that
// they share with it, so that a save survives the death of its trainer.
//
// One connection a trainer (agent_message.hpp), one thread for each that saves (agent_rank.hpp).
// What a trainer had copied only in part is not handed over, and goes with it. Memory: the arenas,
// which are the trainers', and bounded records. Thread: run() in one; it starts and ends the rest.
// Lifetime: run() once. Failure: a trainer that breaks the protocol loses its connection and goes
// on by itself; one complaint each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "checkpoint/engine/agent_rank.hpp"
#include "checkpoint/engine/waiter.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kAgentTrainersMax = 64;  // at once; those that have gone count too

struct AgentOptions {
  Clock& clock;
  Waiter& waiter;
  Fd listener;  // listen_for_trainers()
  Fd control;   // when it can be read, or its other end is closed, the agent ends when it is idle
  std::function<Result<std::unique_ptr<Store>>(const std::string& uri)> open_store = {};
  std::function<void(const AgentSaved&)> on_done = {};  // on a thread of that trainer
  std::function<void(std::string_view)> complain = {};
  std::chrono::nanoseconds orphan_wait = kOrphanReceiptsMax;
};

class Agent {
 public:
  explicit Agent(AgentOptions options) : options_(std::move(options)) {}
  // Until it was told to end and everything that was handed over is done.
  Result<void> run();

 private:
  struct Trainer {
    std::shared_ptr<const AgentSocket> socket = {};
    Fd pidfd = {};
    std::unique_ptr<AgentRank> rank = {};  // none: it has not said hello, or only reads
    bool gone = false;
    bool wants_settled = false;
  };

  void turn();
  void accept();
  void hear(std::uint64_t id, Trainer& trainer);
  Result<void> handle(std::uint64_t id, Trainer& trainer, AgentPacket packet);
  Result<void> welcome(std::uint64_t id, Trainer& trainer, const AgentMessage& hello);
  static void lost(Trainer& trainer);
  void look_for_the_dead();
  void sweep();
  bool idle() const;

  AgentOptions options_;
  Fd wake_ = {};
  OrphansFirst orphans_;
  std::map<std::uint64_t, Trainer> trainers_;
  std::uint64_t next_id_ = 0;
  bool ending_ = false;
};

}  // namespace amdahl::checkpoint
