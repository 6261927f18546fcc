// How the supervisor ends: what is left of the output, of checkpoints and of reports.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "runtime/launch/cut.hpp"
#include "runtime/launch/small_files.hpp"
#include "runtime/launch/supervisor.hpp"
#include "runtime/launch/text_scan.hpp"

namespace amdahl::launch {
namespace {

constexpr std::chrono::seconds kLogTimeMin{2};  // an upload takes a fraction of it

// For a trainer that was killed between two looks at its memory.
std::int64_t largest_child_bytes() {
  rusage used{};
  return ::getrusage(RUSAGE_CHILDREN, &used) == 0 ? used.ru_maxrss * std::int64_t{1024} : 0;
}

}  // namespace

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

// While checkpoints are finished and the last report is sent.
void Supervisor::keep_log() {
  // At a terminal the output is not looked at.
  if (options_.log != nullptr && !streams_.empty()) options_.log->start(log_deadline());
}

// If we are asked to end while we wait for it, the grace period must not end before we do. With a
// grace period of a second or none there would be no time at all, although nobody asks us to end.
Monotonic Supervisor::log_deadline() const {
  if (asked_) return *asked_ + plan_grace(options_.grace).end;
  return clock_.monotonic() + std::max<Monotonic::duration>(options_.grace / 2, kLogTimeMin);
}

void Supervisor::begin_saving() {
  keep_log();
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
  keep_log();
  for (StreamCopy& stream : streams_) stream.give_up();
  phase_ = Phase::kReporting;
  restart_at_.reset();
  deadline_ = reporting_deadline();
  feed_.finish();
  feed_.event(Message::kEnded, fmt::format("{} {} {} {}", end_.code, end_.signal,
                                           largest_child_bytes(), cut_utf8(why, 2048)));
  if (!channel_.open()) finish();
}

// An observer that still takes what waits for it is slow, not stuck.
Monotonic Supervisor::reporting_deadline() const {
  const Monotonic end = clock_.monotonic() + kObserverEndMax;
  return asked_ ? std::min(end, *asked_ + plan_grace(options_.grace).end) : end;
}

// Only the observer can see that a command which ended well did not do its work.
void Supervisor::refuse(std::string_view code) {
  constexpr std::int64_t kExitCodeMax = 255;
  const auto other = take_count(code);
  const bool well = phase_ == Phase::kReporting && end_.code == 0 && end_.signal == 0;
  if (well && other && *other <= kExitCodeMax) end_.code = static_cast<std::int32_t>(*other);
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
  feed_.clear();
  const bool held = std::exchange(hold_, false);
  if (phase_ == Phase::kReporting) return finish();
  options_.complain("the observer is gone; the trainer runs on, unreported");
  if (phase_ == Phase::kWaiting) start();
  if (held && asked_ && asks_done_ == 0) signal_trainer(SIGTERM);
}

}  // namespace amdahl::launch
