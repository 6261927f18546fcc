#include "runtime/launch/supervisor.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "runtime/launch/process_table.hpp"

namespace amdahl::launch {
namespace {

constexpr int kSignalsRead[] = {SIGTERM, SIGINT,  SIGHUP,   SIGQUIT,
                                SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD};

Message kind_of(std::size_t stream) {
  return stream == 0 ? Message::kOut : Message::kErr;
}

}  // namespace

Result<Fd> Supervisor::take_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kSignalsRead) sigaddset(&set, signal);
  ::signal(SIGPIPE, SIG_IGN);  // a log that is gone is an error of write(), not our end
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0)
    return fail(Errc::kIo, "sigprocmask: {}", errno_text(errno));
  const Fd low(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!low) return fail(Errc::kIo, "signalfd: {}", errno_text(errno));
  return duplicate_fd(low.get());
}

Supervisor::Supervisor(Clock& clock, SupervisorOptions options, Channel channel, Fd signals)
    : clock_(clock),
      options_(std::move(options)),
      channel_(std::move(channel)),
      signals_(std::move(signals)) {}

int Supervisor::run() {
  deadline_ = clock_.monotonic() + options_.start_wait;
  if (!channel_.open()) start();
  while (phase_ != Phase::kDone) turn();
  if (options_.log != nullptr) options_.log->finish(log_deadline());
  return end_.code;
}

int Supervisor::poll_timeout() const {
  const Monotonic now = clock_.monotonic();
  Monotonic next = now + (signals_ ? kTurnMax : kBlindTurn);
  if (phase_ != Phase::kRunning) next = std::min(next, deadline_);
  if (restart_at_) next = std::min(next, *restart_at_);
  if (asked_ && phase_ == Phase::kRunning) {
    const GracePlan plan = plan_grace(options_.grace);
    if (asks_done_ == 0) next = std::min(next, *asked_ + plan.terminate_all);
    if (asks_done_ == 1) next = std::min(next, *asked_ + plan.kill_all);
    if (asks_done_ == 2) next = std::min(next, *asked_ + plan.give_up);
  }
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - now);
  return static_cast<int>(std::max<std::int64_t>(wait.count(), 0));
}

void Supervisor::turn() {
  constexpr std::size_t kFixed = 2;
  std::vector<pollfd> fds;
  fds.push_back({.fd = signals_.get(), .events = POLLIN, .revents = 0});
  const short channel_events = static_cast<short>(feed_.waiting() ? POLLIN | POLLOUT : POLLIN);
  fds.push_back({.fd = channel_.fd(), .events = channel_events, .revents = 0});
  for (const StreamCopy& stream : streams_) {
    fds.push_back({.fd = stream.wants_read() ? stream.from() : -1, .events = POLLIN, .revents = 0});
    fds.push_back({.fd = stream.wants_write() ? stream.to() : -1, .events = POLLOUT, .revents = 0});
  }
  if (::poll(fds.data(), fds.size(), poll_timeout()) < 0) return;  // EINTR: the next turn looks
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (fds[kFixed + 2 * i].revents != 0)
      streams_[i].read([&](std::string_view bytes) {
        feed_.copied(kind_of(i), bytes);
        if (options_.log != nullptr)
          options_.log->add(i == 0 ? LogTail::Stream::kOut : LogTail::Stream::kErr, bytes);
      });
    if (fds[kFixed + 2 * i + 1].revents != 0) streams_[i].write();
    const bool moved = fds[kFixed + 2 * i].revents != 0 || fds[kFixed + 2 * i + 1].revents != 0;
    if (moved && phase_ == Phase::kDraining)
      deadline_ = std::min(clock_.monotonic() + kDrainMax, drained_);
  }
  if (fds[1].revents != 0) on_packets();
  if (fds[0].revents != 0) on_signals();
  if (!signals_) reap();
  on_time();
}

void Supervisor::on_signals() {
  signalfd_siginfo info{};
  bool children = false;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD)
      children = true;
    else if (signal == SIGTERM || signal == SIGINT)
      ask_to_end(signal);
    else
      pass_on(signal);
  }
  if (children) reap();
}

void Supervisor::reap() {
  int status = 0;
  for (;;) {
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    if (pid == options_.observer) {
      on_packets();  // its last words
      observer_gone();
      options_.observer = -1;
    }
    if (pid == options_.checkpointer.pid) checkpointer_gone();
    if (pid == trainer_) trainer_ended(status);
  }
}

void Supervisor::on_packets() {
  if (feed_.flush() && phase_ == Phase::kReporting) deadline_ = reporting_deadline();
  while (channel_.open()) {
    const auto packet = channel_.receive();
    if (!packet) return observer_gone();
    if (!*packet) return;
    switch ((*packet)->kind) {
      case Message::kStart:
        if (phase_ == Phase::kWaiting) start();
        break;
      case Message::kHold:
        hold_ = (*packet)->body == "1";
        break;
      case Message::kTerminate:
        signal_trainer(SIGTERM);
        break;
      case Message::kEnd:
        if (!asked_) ask_to_end(SIGTERM);
        break;
      case Message::kPaused:
        if (phase_ == Phase::kReporting) end_ = {};
        break;
      case Message::kRefuse:
        refuse((*packet)->body);
        break;
      default:
        break;  // not for us
    }
  }
}

void Supervisor::on_time() {
  const Monotonic now = clock_.monotonic();
  if (phase_ == Phase::kWaiting && now >= deadline_) start();
  if (restart_at_ && now >= *restart_at_) restart_checkpointer();
  if (phase_ == Phase::kRunning && asked_) grace_steps();
  if (phase_ == Phase::kDraining) {
    const bool dry = std::ranges::all_of(streams_, &StreamCopy::finished);
    if (dry || now >= deadline_) begin_saving();
  }
  if (phase_ == Phase::kSaving && now >= deadline_) {
    options_.complain("checkpoints were not written in time and are given up");
    begin_reporting({});
  }
  if (phase_ == Phase::kReporting && now >= deadline_) finish();
}

void Supervisor::grace_steps() {
  const auto passed = clock_.monotonic() - *asked_;
  const GracePlan plan = plan_grace(options_.grace);
  if (asks_done_ == 0 && passed >= plan.terminate_all) {
    asks_done_ = 1;
    signal_everybody(SIGTERM);
  }
  if (asks_done_ == 1 && passed >= plan.kill_all) {
    asks_done_ = 2;
    options_.complain("the trainer did not end in time and is killed");
    signal_everybody(SIGKILL);
  }
  if (asks_done_ == 2 && passed >= plan.give_up) {
    options_.complain("the trainer cannot be killed");
    end_ = {.code = 128 + SIGKILL, .signal = SIGKILL};
    begin_reporting({});
  }
}

void Supervisor::ask_to_end(int signal) {
  if (phase_ == Phase::kWaiting) {
    end_ = {.code = 128 + signal, .signal = signal};
    asked_ = clock_.monotonic();
    return begin_reporting({});
  }
  const bool first = !asked_;
  if (first) {
    asked_ = clock_.monotonic();
    feed_.event(Message::kAsked,
                fmt::format("{}", plan_grace(options_.grace).terminate_all.count()));
    if (phase_ == Phase::kSaving) hurry_saving();
  }
  // A trainer that listens to the observer saves and ends by itself; SIGTERM would cut that short.
  if (!first || !hold_) signal_trainer(signal);
}

void Supervisor::pass_on(int signal) {
  if (trainer_ < 0) return;
  const auto all = read_processes();
  for (const pid_t target : signal_targets(trainer_, signal, all)) {
    const ProcessInfo* process = find_process(target, all);
    // As for PID 1 itself: a signal without a handler does nothing.
    if (process == nullptr || catches(*process, signal)) ::kill(target, signal);
  }
}

void Supervisor::signal_trainer(int signal) const {
  if (trainer_ < 0) return;
  for (const pid_t target : signal_targets(trainer_, signal, read_processes()))
    ::kill(target, signal);
}

void Supervisor::signal_everybody(int signal) const {
  if (trainer_ > 0 && phase_ == Phase::kRunning) {
    ::kill(-trainer_, signal);
    ::kill(trainer_, signal);
  }
  for (const ProcessInfo& process : descendants_of(::getpid(), read_processes()))
    if (process.pid != options_.observer && process.pid != options_.checkpointer.pid &&
        process.pid != trainer_)
      ::kill(process.pid, signal);
}

}  // namespace amdahl::launch
