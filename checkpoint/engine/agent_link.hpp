// A trainer's end of the connection to the checkpoint agent.
//
// Thread: answers() from one thread, wake() from any, the rest from another one. Lifetime: the
// agent finishes what was given when this is gone. Failure: kIo when there is no agent or it has
// ended, kTimeout, and what it refuses with.
#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "checkpoint/engine/agent_socket.hpp"

namespace amdahl::checkpoint {

inline constexpr std::chrono::seconds kAgentWelcomeMax{10};
// A little longer than the agent waits for other ranks of a trainer that has gone (agent_rank.hpp).
inline constexpr std::chrono::seconds kAgentSettleMax{120};

class AgentLink {
 public:
  // `options` are those of a session (session_options.hpp); null: it will save nothing.
  static Result<std::unique_ptr<AgentLink>> connect(const std::string& path,
                                                    nlohmann::json options);

  // Where the snapshots that follow lie.
  Result<void> give_arena(int fd) { return socket_.send({.kind = AgentKind::kArena}, fd); }
  // Returns when the kernel has it: from then on the agent writes it, whatever becomes of us.
  Result<void> give(const AgentMessage& save) { return socket_.send(save); }
  // Until nothing is left of what trainers that have gone had given. Before any snapshot is given.
  Result<void> settle();
  // The next answer; nothing after wake().
  Result<std::optional<AgentMessage>> answer();
  void wake() const;

 private:
  AgentLink(AgentSocket socket, Fd wake) : socket_(std::move(socket)), wake_(std::move(wake)) {}
  Result<AgentMessage> expect(AgentKind kind, std::chrono::milliseconds patience);

  AgentSocket socket_;
  Fd wake_;
};

}  // namespace amdahl::checkpoint
