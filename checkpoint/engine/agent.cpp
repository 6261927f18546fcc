#include "checkpoint/engine/agent.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/json_dump.hpp"
#include "checkpoint/engine/session_options.hpp"

namespace amdahl::checkpoint {
namespace {

// Children of a trainer may hold its socket open after its death, so that is not how it is seen.
Fd watch_process(pid_t pid) {
  const Fd low(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  auto high = low ? duplicate_fd(low.get()) : Result<Fd>(Fd());
  return high ? *std::move(high) : Fd();
}

bool readable(int fd) {
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  return fd >= 0 && ::poll(&one, 1, 0) == 1;
}

}  // namespace

Result<void> Agent::run() {
  const Fd low(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!low) return fail(Errc::kIo, "eventfd: {}", errno_text(errno));
  TRY(wake_, duplicate_fd(low.get()));
  while (!ending_ || !idle()) turn();
  trainers_.clear();
  return {};
}

bool Agent::idle() const {
  return std::ranges::all_of(
      trainers_, [](const auto& entry) { return !entry.second.rank || entry.second.rank->idle(); });
}

void Agent::turn() {
  constexpr short kIn = POLLIN;
  constexpr std::size_t kFixed = 3;
  std::vector<pollfd> fds = {
      {.fd = ending_ ? -1 : options_.control.get(), .events = kIn, .revents = 0},
      {.fd = wake_.get(), .events = kIn, .revents = 0},
      {.fd = ending_ || trainers_.size() >= kAgentTrainersMax ? -1 : options_.listener.get(),
       .events = kIn,
       .revents = 0}};
  std::vector<std::uint64_t> ids;
  for (const auto& [id, trainer] : trainers_) {
    if (trainer.gone) continue;
    ids.push_back(id);
    fds.push_back({.fd = trainer.socket->fd(), .events = kIn, .revents = 0});
    fds.push_back({.fd = trainer.pidfd.get(), .events = kIn, .revents = 0});
  }
  if (::poll(fds.data(), fds.size(), -1) < 0) return;  // EINTR: the next turn looks
  if (fds[1].revents != 0) {
    std::uint64_t woken = 0;
    (void)!::read(wake_.get(), &woken, sizeof woken);
  }
  // Who has ended before a new one says hello, or that we are to end.
  look_for_the_dead();
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (fds[kFixed + 2 * i].revents != 0) hear(ids[i], trainers_.at(ids[i]));
  if (fds[0].revents != 0) ending_ = true;
  if (fds[2].revents != 0) accept();
  sweep();
}

void Agent::accept() {
  auto accepted = accept_trainer(options_.listener.get());
  if (!accepted) return options_.complain("checkpoint agent: " + accepted.error().context);
  if (!*accepted) return;
  Trainer trainer{.pidfd = watch_process((*accepted)->pid)};
  trainer.socket = std::make_shared<const AgentSocket>(std::move((*accepted)->socket));
  trainers_.emplace(next_id_++, std::move(trainer));
}

// All that is there: of a trainer that has ended, everything it said before.
void Agent::hear(std::uint64_t id, Trainer& trainer) {
  constexpr int kMessagesMax = 64;  // at once; then the others have their turn
  for (int i = 0; i < kMessagesMax && !trainer.gone; ++i) {
    auto packet = trainer.socket->receive();
    if (packet && !*packet) return;
    const bool ended = !packet && packet.error().code == Errc::kIo;
    if (ended) return lost(trainer);
    auto done = packet ? handle(id, trainer, **std::move(packet))
                       : Result<void>(std::unexpected<Error>(std::move(packet).error()));
    if (done) continue;
    options_.complain("checkpoint agent: a trainer is left to itself: " + done.error().context);
    (void)trainer.socket->send(failed_message(AgentKind::kRefused, done.error()));
    trainer.socket->shut_down();
    return lost(trainer);
  }
}

Result<void> Agent::handle(std::uint64_t id, Trainer& trainer, AgentPacket packet) {
  switch (packet.message.kind) {
    case AgentKind::kHello:
      return welcome(id, trainer, packet.message);
    case AgentKind::kSettle:
      trainer.wants_settled = true;
      return {};
    case AgentKind::kArena:
      if (!trainer.rank || !packet.fd) return fail(Errc::kInvalid, "arena: no hello or no file");
      return trainer.rank->use_arena(packet.fd.get());
    case AgentKind::kSave:
      if (!trainer.rank) return fail(Errc::kInvalid, "save: no hello");
      return trainer.rank->take(packet.message);
    default:
      return fail(Errc::kInvalid, "{}: only an agent says that", enum_name(packet.message.kind));
  }
}

Result<void> Agent::welcome(std::uint64_t id, Trainer& trainer, const AgentMessage& hello) {
  if (trainer.rank) return fail(Errc::kInvalid, "hello: a second one");
  if (hello.protocol != kAgentProtocol)
    return fail(Errc::kInvalid, "hello: version {} of the protocol, {} is spoken here",
                hello.protocol, kAgentProtocol);
  if (!hello.options.is_null()) {
    TRY(const SessionOptions session, read_session_options(dump_json(hello.options)));
    AgentRankOptions options{.id = id,
                             .uri = session.uri,
                             .engine = engine_options(session),
                             .orphan_wait = options_.orphan_wait,
                             .on_done = options_.on_done,
                             .on_idle = [this] {
                               const std::uint64_t one = 1;
                               (void)!::write(wake_.get(), &one, sizeof one);
                             }};
    TRY(check(options.engine));
    TRY(auto store, options_.open_store(session.uri));
    const AgentRank::World world{
        .clock = options_.clock, .waiter = options_.waiter, .orphans = orphans_};
    trainer.rank =
        std::make_unique<AgentRank>(world, std::move(options), std::move(store), trainer.socket);
  }
  return trainer.socket->send({.kind = AgentKind::kWelcome, .protocol = kAgentProtocol});
}

void Agent::lost(Trainer& trainer) {
  trainer.gone = true;
  if (trainer.rank) trainer.rank->orphan();
}

void Agent::look_for_the_dead() {
  for (auto& [id, trainer] : trainers_) {
    if (trainer.gone || !readable(trainer.pidfd.get())) continue;
    hear(id, trainer);
    if (!trainer.gone) lost(trainer);
  }
}

// Lets go of who has gone and is done with, and answers who waited for that.
void Agent::sweep() {
  const bool asked =
      std::ranges::any_of(trainers_, [](const auto& entry) { return entry.second.wants_settled; });
  if (asked) look_for_the_dead();  // whoever died before the question was sent counts
  for (auto at = trainers_.begin(); at != trainers_.end();) {
    const Trainer& trainer = at->second;
    if (!trainer.gone || (trainer.rank && !trainer.rank->idle())) {
      ++at;
      continue;
    }
    const std::uint64_t id = at->first;
    at = trainers_.erase(at);
    orphans_.remove(id);
  }
  if (orphans_.any()) return;
  for (auto& [id, trainer] : trainers_) {
    if (!std::exchange(trainer.wants_settled, false)) continue;
    (void)trainer.socket->send({.kind = AgentKind::kSettled});  // an end is seen when it is read
  }
}

}  // namespace amdahl::checkpoint
