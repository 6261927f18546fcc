// Runs the trainer: starts it, copies its output, passes signals on, reaps whatever ends, and ends
// in time when asked. PID 1 of the container.
//
// Kept small on purpose: it reads no log, speaks no protocol and knows no name; all of that is the
// observer's, in another process. Thread: one, with a loop over poll(). Lifetime: run() once.
// Failure: a trainer that cannot be started gives 127 (not there) or 126 (not executable); all else
// is passed by.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "operator/api/report.hpp"
#include "runtime/launch/channel.hpp"
#include "runtime/launch/grace.hpp"
#include "runtime/launch/log_feed.hpp"
#include "runtime/launch/log_keeper.hpp"
#include "runtime/launch/stream_copy.hpp"

namespace amdahl::launch {

// A checkpointer and how it is told to end.
struct StartedCheckpointer {
  pid_t pid = -1;
  Fd control = {};  // a byte: it ends when all is written
};

struct SupervisorOptions {
  std::vector<std::string> command = {};
  std::vector<std::string> environment = {};
  std::string search_path = {};
  std::string termination_log = {};
  std::chrono::seconds grace = kGraceDefault;
  std::chrono::seconds start_wait{0};  // for the observer's word
  pid_t observer = -1;
  StartedCheckpointer checkpointer = {};
  // Another one after its crash, for trainers that start later; none: there will be no other.
  std::function<Result<StartedCheckpointer>()> restart_checkpointer{};
  LogKeeper* log = nullptr;                          // outlives the supervisor; none: no place
  std::function<void(std::string_view)> complain{};  // one line for people
};

class Supervisor {
 public:
  // After the trainer's end: for output that stands still, and for all of it.
  static constexpr std::chrono::seconds kDrainMax{2};
  static constexpr std::chrono::seconds kDrainTotalMax{15};
  static constexpr std::chrono::seconds kObserverEndMax{5};  // for the last report
  // For the checkpointer to write what the trainer had handed over, unless the grace period ends.
  static constexpr std::chrono::minutes kCheckpointerEndMax{10};
  // How often a checkpointer that has crashed is started again, and the pause before the first of
  // these times; it is doubled each time.
  static constexpr int kCheckpointerRestartsMax = 5;
  static constexpr std::chrono::seconds kCheckpointerPause{1};
  static constexpr std::chrono::milliseconds kTurnMax{60'000};  // nothing is waited for longer
  static constexpr std::chrono::milliseconds kBlindTurn{100};   // where signals cannot be read

  // Signals that come to us are blocked from here on and read in run().
  static Result<Fd> take_signals();

  Supervisor(Clock& clock, SupervisorOptions options, Channel channel, Fd signals);
  int run();  // the exit code

 private:
  enum class Phase : std::uint8_t { kWaiting, kRunning, kDraining, kSaving, kReporting, kDone };

  void turn();
  void start();
  Result<void> spawn_trainer();
  int poll_timeout() const;
  void on_signals();
  void on_packets();
  void on_time();
  void grace_steps();
  void reap();
  void ask_to_end(int signal);
  void pass_on(int signal);
  void signal_trainer(int signal) const;
  void signal_everybody(int signal) const;
  void trainer_ended(int status);
  void could_not_start(const Error& error);
  void end_checkpointer();
  void keep_log();
  Monotonic log_deadline() const;
  void begin_saving();
  void hurry_saving();
  void checkpointer_gone();
  void restart_checkpointer();
  void begin_reporting(std::string_view why);
  void refuse(std::string_view code);
  void finish();
  Monotonic reporting_deadline() const;
  void observer_gone();

  Clock& clock_;
  SupervisorOptions options_;
  Channel channel_;
  Fd signals_;
  Phase phase_ = Phase::kWaiting;
  Monotonic deadline_{};  // of the phase
  Monotonic drained_{};   // the last moment of draining
  pid_t trainer_ = -1;
  std::vector<StreamCopy> streams_;
  LogFeed feed_{channel_};
  bool hold_ = false;  // the observer has asked the trainer to end
  int restarts_ = 0;   // of the checkpointer
  std::optional<Monotonic> restart_at_;
  std::optional<Monotonic> asked_;  // when we were asked to end
  int asks_done_ = 0;               // of the grace plan
  api::ReportExit end_;
};

}  // namespace amdahl::launch
