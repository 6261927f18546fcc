#include "checkpoint/engine/agent_link.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace amdahl::checkpoint {

Result<std::unique_ptr<AgentLink>> AgentLink::connect(const std::string& path,
                                                      nlohmann::json options) {
  TRY(AgentSocket socket, AgentSocket::connect(path));
  const Fd low(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!low) return fail(Errc::kIo, "eventfd: {}", errno_text(errno));
  TRY(Fd wake, duplicate_fd(low.get()));
  std::unique_ptr<AgentLink> link(new AgentLink(std::move(socket), std::move(wake)));
  TRY(link->socket_.send(
      {.kind = AgentKind::kHello, .protocol = kAgentProtocol, .options = std::move(options)}));
  TRY(link->expect(AgentKind::kWelcome, kAgentWelcomeMax));
  return link;
}

Result<AgentMessage> AgentLink::expect(AgentKind kind, std::chrono::milliseconds patience) {
  for (;;) {
    TRY(socket_.wait(patience));
    TRY(auto packet, socket_.receive());
    if (!packet) continue;
    AgentMessage& message = packet->message;
    if (message.kind == AgentKind::kRefused)
      return wrap(error_of(message), "the checkpoint agent refuses");
    if (message.kind == kind) return std::move(message);
    return fail(Errc::kInvalid, "the checkpoint agent says {} for {}", enum_name(message.kind),
                enum_name(kind));
  }
}

Result<void> AgentLink::settle() {
  TRY(socket_.send({.kind = AgentKind::kSettle}));
  TRY(expect(AgentKind::kSettled, kAgentSettleMax));
  return {};
}

Result<std::optional<AgentMessage>> AgentLink::answer() {
  constexpr std::chrono::milliseconds kForever{-1};
  TRY(socket_.wait(kForever, wake_.get()));
  std::uint64_t woken = 0;
  if (::read(wake_.get(), &woken, sizeof woken) == sizeof woken) return std::nullopt;
  TRY(auto packet, socket_.receive());
  if (!packet) return std::nullopt;
  return std::move(packet->message);
}

void AgentLink::wake() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

}  // namespace amdahl::checkpoint
