// A unix socket of packets between a trainer and the checkpoint agent, which carries descriptors.
//
// Thread: one sends, one receives. Lifetime: closes its descriptor. Failure: kIo when the other
// side is gone, kTimeout when it does not take what is sent, kForbidden for another user, else what
// the message's reader says.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "checkpoint/engine/agent_message.hpp"

namespace amdahl::checkpoint {

inline constexpr std::chrono::seconds kAgentSendMax{5};  // for the other side to have room
inline constexpr int kAgentBacklogMax = 64;

struct AgentPacket {
  AgentMessage message = {};
  Fd fd = {};  // that came with it
};

class AgentSocket {
 public:
  AgentSocket() = default;
  explicit AgentSocket(Fd fd) : fd_(std::move(fd)) {}
  static Result<AgentSocket> connect(const std::string& path);

  int fd() const { return fd_.get(); }
  explicit operator bool() const { return static_cast<bool>(fd_); }
  // Returns when the kernel has it: then it reaches the other side, whatever becomes of this one.
  Result<void> send(const AgentMessage& message, int passed_fd = -1) const;
  // What is there now; nothing when there is none.
  Result<std::optional<AgentPacket>> receive() const;
  // Waits for something to receive, or until `wake` can be read.
  Result<void> wait(std::chrono::milliseconds patience, int wake = -1) const;
  void shut_down() const;  // the other side reads an end

 private:
  Fd fd_;
};

// Only this user may connect.
Result<Fd> listen_for_trainers(const std::string& path);
struct AcceptedTrainer {
  AgentSocket socket = {};
  pid_t pid = -1;
};
// Nothing when nobody waits; a process of another user is turned away.
Result<std::optional<AcceptedTrainer>> accept_trainer(int listener);

}  // namespace amdahl::checkpoint
