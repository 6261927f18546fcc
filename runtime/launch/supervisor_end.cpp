// How the supervisor ends: what is left of the output, of checkpoints and of reports.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "runtime/launch/cut.hpp"
#include "runtime/launch/small_files.hpp"
#include "runtime/launch/supervisor.hpp"

namespace amdahl::launch {

void Supervisor::trainer_ended(int status) {
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end_ = {.code = signal != 0 ? 128 + signal : WEXITSTATUS(status), .signal = signal};
  phase_ = Phase::kDraining;
  // As the end of PID 1 would; and what they hold open delays the end of the log.
  ::kill(-std::exchange(trainer_, -1), SIGKILL);
  signal_everybody(SIGKILL);
  deadline_ = clock_.monotonic() + kDrainMax;
  drained_ = clock_.monotonic() + kDrainTotalMax;
  end_checkpointer();  // it works while the output is drained
}

// By a byte: the observer has a copy of the descriptor, so that closing ours says nothing.
void Supervisor::end_checkpointer() {
  restart_at_.reset();  // nobody comes who would need it
  const Fd control = std::exchange(options_.checkpointer.control, Fd());
  if (control) (void)!::write(control.get(), "e", 1);
}

void Supervisor::begin_saving() {
  if (options_.checkpointer.pid < 0) return begin_reporting({});
  phase_ = Phase::kSaving;
  deadline_ = clock_.monotonic() + kCheckpointerEndMax;
  if (asked_) hurry_saving();
}

// Its time ends with the grace period, but for what the last report needs.
void Supervisor::hurry_saving() {
  deadline_ = std::min(deadline_, *asked_ + plan_grace(options_.grace).give_up);
}

void Supervisor::checkpointer_gone() {
  const StartedCheckpointer gone = std::exchange(options_.checkpointer, StartedCheckpointer());
  if (gone.control) {
    options_.complain("the checkpointer is gone; the trainer writes its checkpoints itself");
    const bool again = options_.restart_checkpointer && restarts_ < kCheckpointerRestartsMax;
    if (again) restart_at_ = clock_.monotonic() + kCheckpointerPause * (1 << restarts_);
  }
  if (phase_ == Phase::kSaving) begin_reporting({});
}

// Trainers that had the other one have taken back what it had not written, and go on by themselves.
void Supervisor::restart_checkpointer() {
  restart_at_.reset();
  ++restarts_;
  auto started = options_.restart_checkpointer();
  if (started)
    options_.checkpointer = *std::move(started);
  else
    options_.complain("no other checkpointer: " + started.error().context);
}

void Supervisor::begin_reporting(std::string_view why) {
  for (StreamCopy& stream : streams_) stream.give_up();
  phase_ = Phase::kReporting;
  restart_at_.reset();
  deadline_ = clock_.monotonic() + kObserverEndMax;
  if (asked_) deadline_ = std::min(deadline_, *asked_ + plan_grace(options_.grace).end);
  if (lost_bytes_ > 0) {
    event(Message::kLost, fmt::format("{}", lost_bytes_));
    event(Message::kErr, last_lost_);
  }
  event(Message::kEnded, fmt::format("{} {} {}", end_.code, end_.signal, cut_utf8(why, 2048)));
  if (!channel_.open()) finish();
}

void Supervisor::finish() {
  if (phase_ == Phase::kDone) return;
  for (const pid_t ours : {options_.observer, options_.checkpointer.pid})
    if (ours > 0) ::kill(ours, SIGKILL);
  write_termination_log_if_empty(options_.termination_log, {.exit = end_});
  phase_ = Phase::kDone;
}

void Supervisor::observer_gone() {
  if (!channel_.open()) return;
  channel_.close();
  events_.clear();
  const bool held = std::exchange(hold_, false);
  if (phase_ == Phase::kReporting) return finish();
  options_.complain("the observer is gone; the trainer runs on, unreported");
  if (phase_ == Phase::kWaiting) start();
  if (held && asked_ && asks_done_ == 0) signal_trainer(SIGTERM);
}

}  // namespace amdahl::launch
