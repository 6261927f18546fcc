#include "operator/kube/subprocess.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/deadline.hpp"
#include "base/fd.hpp"
#include "base/spawn.hpp"
#include "base/task_group.hpp"

namespace amdahl::kube {
namespace asio = boost::asio;
namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kReadBytes = 64 * 1024;  // what a pipe holds
constexpr int kDrainReadsMax = 64;             // after the exit: 4 MiB, more than any stdout_max
constexpr int kReapWaitMs = 1000;              // after SIGKILL; only a stuck disk makes it longer

// A started child; killed and reaped when this dies before wait_status() was called.
class Child {
 public:
  Child(pid_t pid, Fd pidfd, bool own_group)
      : pid_(pid), pidfd_(std::move(pidfd)), own_group_(own_group) {}
  Child(Child&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        pidfd_(std::move(other.pidfd_)),
        own_group_(other.own_group_) {}
  Child& operator=(Child&&) = delete;
  ~Child() { kill_and_reap(); }

  int pidfd() const { return pidfd_.get(); }

  void kill_and_reap() {
    if (pid_ < 0) return;
    // The pid is ours until it is reaped, so the group of that number is still the child's.
    ::kill(own_group_ ? -pid_ : pid_, SIGKILL);
    pollfd ended{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    while (::poll(&ended, 1, kReapWaitMs) < 0 && errno == EINTR) {
    }
    ::waitpid(pid_, nullptr, WNOHANG);
    pid_ = -1;
  }

  // Once the pidfd is readable.
  int wait_status() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_;
  Fd pidfd_;
  bool own_group_;
};

Result<Child> start(SubprocessSpec& spec, const Pipe& out, const Pipe& err) {
  SpawnSpec child{.arguments = spec.arguments,
                  .environment = std::move(spec.environment),
                  .fds = {{out.write.get(), STDOUT_FILENO}},
                  // On a terminal the child must stay in our group, or reading it would stop it.
                  .null_input = !spec.interactive,
                  .own_group = !spec.interactive};
  if (!spec.interactive) child.fds.emplace_back(err.write.get(), STDERR_FILENO);
  TRY(Spawned spawned, spawn(std::move(child)));
  return Child(spawned.pid, std::move(spawned.pidfd), !spec.interactive);
}

// What the tasks that read share with the one that waits. Shared, because a reader ends one turn
// of the loop after its pipe was closed.
struct Streams {
  asio::posix::stream_descriptor out;
  asio::posix::stream_descriptor err;
  asio::posix::stream_descriptor exited;
  std::size_t out_max = 0;
  std::size_t err_max = 0;
  std::string out_text = {};
  std::string err_text = {};
  bool overflow = false;
  std::array<char, kReadBytes> buffer{};
};

enum class ReadEnd : std::uint8_t { kMore, kNothingNow, kClosed };

// One read, so that a child that never stops printing cannot hold the loop.
ReadEnd read_once(Streams& streams, bool is_out) {
  auto& descriptor = is_out ? streams.out : streams.err;
  const ssize_t count =
      ::read(descriptor.native_handle(), streams.buffer.data(), streams.buffer.size());
  if (count < 0) return errno == EAGAIN || errno == EINTR ? ReadEnd::kNothingNow : ReadEnd::kClosed;
  if (count == 0) return ReadEnd::kClosed;
  std::string& text = is_out ? streams.out_text : streams.err_text;
  const std::size_t room = (is_out ? streams.out_max : streams.err_max) - text.size();
  const std::size_t size = static_cast<std::size_t>(count);
  text.append(streams.buffer.data(), std::min(size, room));
  if (is_out && size > room) streams.overflow = true;
  return ReadEnd::kMore;
}

Task<void> read_all(std::shared_ptr<Streams> streams, bool is_out) {
  auto& descriptor = is_out ? streams->out : streams->err;
  while (!streams->overflow) {
    const auto [error] = co_await descriptor.async_wait(descriptor.wait_read, kTuple);
    if (error || !descriptor.is_open()) co_return;
    if (read_once(*streams, is_out) == ReadEnd::kClosed) co_return;
  }
  streams->exited.cancel();  // wakes the waiter, which sees the overflow
}

Task<Result<void>> wait_for_exit(std::shared_ptr<Streams> streams) {
  const auto [error] =
      co_await streams->exited.async_wait(asio::posix::stream_descriptor::wait_read, kTuple);
  if (streams->overflow)
    co_return fail(Errc::kTooLarge, "it printed more than {} bytes", streams->out_max);
  if (error) co_return fail(Errc::kCancelled, "cancelled");
  co_return Result<void>{};
}

// A pipe may still hold what was printed last; a grandchild may keep it open for ever.
void drain(Streams& streams) {
  for (const bool is_out : {true, false})
    for (int i = 0; i < kDrainReadsMax && read_once(streams, is_out) == ReadEnd::kMore; ++i) {
    }
}

void close_all(Streams& streams) {
  boost::system::error_code ignored;
  streams.out.close(ignored);
  streams.err.close(ignored);
  streams.exited.close(ignored);
}

Task<Result<void>> follow(std::shared_ptr<Streams> streams, Clock& clock, Monotonic deadline) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  RunningTask::start(executor, read_all(streams, true), nullptr);
  RunningTask::start(executor, read_all(streams, false), nullptr);
  auto ended = co_await with_deadline(clock, deadline, wait_for_exit(streams), "run");
  if (ended) drain(*streams);
  const bool overflow = streams->overflow;
  close_all(*streams);
  if (ended && overflow)
    co_return fail(Errc::kTooLarge, "it printed more than {} bytes", streams->out_max);
  co_return ended;
}

}  // namespace

Task<Result<SubprocessOutcome>> run_subprocess(SubprocessSpec spec, Clock& clock,
                                               Monotonic deadline) {
  CO_TRY(Pipe out, make_pipe());
  CO_TRY(Pipe err, make_pipe());
  CO_TRY(Child child, start(spec, out, err));
  out.write = Fd();
  err.write = Fd();
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  CO_TRY(Fd exited, duplicate_fd(child.pidfd()));
  auto streams = std::make_shared<Streams>(
      asio::posix::stream_descriptor(executor, out.read.release()),
      asio::posix::stream_descriptor(executor, err.read.release()),
      asio::posix::stream_descriptor(executor, exited.release()), spec.stdout_max, spec.stderr_max);

  auto followed = co_await follow(streams, clock, deadline);
  if (!followed) co_return wrap(std::move(followed).error(), "{}", spec.arguments[0]);
  const int status = child.wait_status();
  SubprocessOutcome outcome{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                            .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                            .out = std::move(streams->out_text),
                            .err = std::move(streams->err_text)};
  co_return outcome;
}

}  // namespace amdahl::kube
