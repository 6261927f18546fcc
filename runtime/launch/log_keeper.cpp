#include "runtime/launch/log_keeper.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/rng.hpp"
#include "checkpoint/store/open_store.hpp"

namespace amdahl::launch {
namespace {

// So much earlier the writer's calls end, and its own words say which of them was too slow.
constexpr std::chrono::milliseconds kLastWords{100};

// What the supervisor has open would be held open by a writer that hangs.
void close_all_but(int fd) {
  constexpr int kKept = STDERR_FILENO + 1;
  (void)::dup2(fd, kKept);
  (void)::syscall(SYS_close_range, static_cast<unsigned>(kKept + 1), ~0U, 0U);
}

bool readable_before(int fd, const Clock& clock, Monotonic deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock.monotonic());
    pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&one, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready >= 0 || errno != EINTR) return ready == 1;
  }
}

}  // namespace

bool has_place(const LogKeeperOptions& options) {
  return !options.uri.empty() && !options.place.job_uid.empty() && options.place.attempt > 0;
}

LogKeeperOptions log_keeper_options(const Settings& settings, const Variables& variables) {
  return {.uri = settings.checkpoint_uri,
          .place = {.job_uid = settings.job_uid,
                    .job = settings.job,
                    .attempt = settings.attempt,
                    .rank = settings.rank},
          .variables = variables};
}

void LogKeeper::add(LogTail::Stream stream, std::string_view bytes) {
  if (has_place(options_)) tail_.add(stream, bytes);
}

void LogKeeper::complain(std::string_view why) const {
  options_.complain(
      fmt::format("the end of this rank's log was not kept beside the checkpoints: {}", why));
}

Result<void> LogKeeper::write(Monotonic deadline) {
  const auto variable = [&](std::string_view name) {
    return std::string(options_.variables.get(name));
  };
  TRY(const auto store,
      checkpoint::open_store(options_.uri,
                             {.clock = clock_, .rng = Rng(options_.seed), .variable = variable}));
  return checkpoint::keep_log(*store, options_.place, tail_.text(), {.deadline = deadline});
}

// The writer's exit code. Signals stay blocked as the supervisor has them; it alone ends this
// process.
int LogKeeper::be_writer(pid_t supervisor, int done, Monotonic deadline) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) return 1;
  ::prctl(PR_SET_NAME, "log-keeper");
  close_all_but(done);
  if (const auto written = write(deadline - kLastWords); !written)
    complain(written.error().context);
  (void)!::write(STDERR_FILENO + 1, "d", 1);
  return 0;
}

void LogKeeper::start(Monotonic latest) {
  if (started_ || !has_place(options_)) return;
  started_ = true;
  deadline_ = std::min(clock_.monotonic() + kTimeMax, latest);
  auto pipe = make_pipe();
  if (!pipe) return complain(pipe.error().context);
  const pid_t supervisor = ::getpid();
  writer_ = ::fork();
  if (writer_ == 0)
    // tidy: allow(ban-exit) a forked child must not run on as the supervisor
    std::_Exit(be_writer(supervisor, pipe->write.get(), deadline_));
  if (writer_ < 0) return complain(errno_text(errno));
  done_ = std::move(pipe->read);
}

void LogKeeper::finish(Monotonic latest) {
  if (!done_) return;
  char byte = 0;
  if (!readable_before(done_.get(), clock_, std::min(deadline_, latest))) {
    // It has its end of the pipe, so the number is still its own.
    ::kill(writer_, SIGKILL);
    complain("the store did not answer in time");
  } else if (::read(done_.get(), &byte, 1) != 1) {
    complain("the process that writes it is gone");
  }
  done_ = Fd();
}

}  // namespace amdahl::launch
