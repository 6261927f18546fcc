// What the observer learns of the ranks of its node from their processes.
#include <fmt/format.h>
#include <unistd.h>

#include "runtime/launch/observer.hpp"
#include "runtime/launch/process_table.hpp"

namespace amdahl::launch {

Task<void> Observer::watch_world() {
  while (world_.open() && co_await clock_.sleep_for(world_.look_in())) look_at_world();
}

void Observer::look_at_world() {
  if (trainer_ <= 0 || !world_.open()) return;
  for (const pid_t process : family_of(trainer_)) {
    const auto environment = read_process_file(process, "environ");
    if (environment)
      world_.see(*environment, read_process_file(process, "cmdline").value_or(""));
    else if (environment.error().code == Errc::kForbidden)
      world_.blind();
  }
  world_.looked();
}

Task<void> Observer::watch_ranks() {
  while (co_await clock_.sleep_for(EndedRanks::kLook)) look_at_ranks();
}

void Observer::look_at_ranks() {
  const auto read = [](pid_t process) { return read_process_file(process, "environ"); };
  if (trainer_ <= 0 || ended_ranks_.unchanged(read)) return;
  const bool ended = ended_ranks_.since().has_value();
  ended_ranks_.look(family_of(trainer_), read, clock_.monotonic());
  // Where all workers are replaced, those of other nodes must not seem to wait for the old ones.
  if (ended && !ended_ranks_.since()) hurry();
}

// A trainer that was asked to end may do so before it has joined anybody.
void Observer::judge_world() {
  const bool asked = state_.phase() == ReportPhase::kStopping ||
                     pause_.state != ReportPauseState::kNone ||
                     taken_back_.pause.state != ReportPauseState::kNone;
  const bool blind = !read_process_file(::getpid(), "environ");
  if (end_->code != 0 || end_->signal != 0 || asked || blind) return;
  auto fault = world_.fault();
  if (!fault) return;
  options_.complain(*fault);
  end_->code = kNoWorldExitCode;
  channel_.send(Message::kRefuse, fmt::format("{}", kNoWorldExitCode));
  state_.failed({.kind = api::ReportErrorKind::kNoWorld,
                 .source = api::ReportErrorSource::kProcess,
                 .message = *std::move(fault)},
                moment());
}

}  // namespace amdahl::launch
