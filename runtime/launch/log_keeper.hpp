// Keeps the end of the trainer's output beside the job's checkpoints (checkpoint/engine/
// kept_log.hpp), because on most clusters a log goes with its pod.
//
// A separate process writes it when the trainer has ended, while checkpoints are finished and the
// last report is sent; it has kTimeMax, and less when the grace period ends before. Thread: the
// supervisor's. Lifetime: outlives the supervisor; options and clock outlive it. Failure: one line
// for people; neither the exit code nor anything else changes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "checkpoint/engine/kept_log.hpp"
#include "runtime/launch/log_tail.hpp"
#include "runtime/launch/settings.hpp"
#include "runtime/launch/variables.hpp"

namespace amdahl::launch {

struct LogKeeperOptions {
  std::string uri = {};
  checkpoint::KeptLogPlace place = {};
  Variables variables = {};  // the environment, for credentials
  std::uint64_t seed = 1;
  std::function<void(std::string_view)> complain{};  // one line for people
};
// Without a place to keep it: no URI is set, or nobody said which job and attempt this is.
bool has_place(const LogKeeperOptions& options);
LogKeeperOptions log_keeper_options(const Settings& settings, const Variables& variables);

class LogKeeper {
 public:
  static constexpr std::chrono::seconds kTimeMax{3};

  LogKeeper(Clock& clock, LogKeeperOptions options) : clock_(clock), options_(std::move(options)) {}

  void add(LogTail::Stream stream, std::string_view bytes);
  // No more output comes. Only the first call counts.
  void start(Monotonic latest);
  // Returns when it is written or given up, at `latest` at the latest.
  void finish(Monotonic latest);

 private:
  Result<void> write(Monotonic deadline);
  int be_writer(pid_t supervisor, int done, Monotonic deadline);
  void complain(std::string_view why) const;

  Clock& clock_;
  LogKeeperOptions options_;
  LogTail tail_{checkpoint::kKeptLogBytesMax};
  bool started_ = false;
  Monotonic deadline_{};
  pid_t writer_ = -1;
  Fd done_;  // a byte: the writer has said what there is to say; its end: it is gone
};

}  // namespace amdahl::launch
