#include "local/cluster/server_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "local/cluster/whole_file.hpp"
#include "operator/kube/environment.hpp"

// Debian 12's header forgets that it is C.
extern "C" {
#include <sys/pidfd.h>
}

namespace amdahl::local {
namespace {

constexpr std::size_t kReportBytesMax = std::size_t{64} << 10;
constexpr std::size_t kLogBytesMax = std::size_t{64} << 20;
constexpr std::chrono::seconds kKillMax{10};  // until the kernel has taken a killed process away

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&&) = delete;
  ~Fd() { close(); }
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

bool readable(int fd, std::chrono::milliseconds wait) {
  pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
  int ready = -1;
  do {
    ready = ::poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(wait.count(), 0)));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

// The log of the last start but one goes; a log that only grows would fill the disk some day.
Result<Fd> open_log(const DataFolder& folder) {
  const std::string path = folder.file("log");
  std::rename(path.c_str(), folder.file("log.old").c_str());
  Fd log(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly));
  if (log.get() < 0) return file_error("open", path, errno);
  return log;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

Result<pid_t> spawn(const ServerStart& start, int log, int report) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  // A session of its own: Ctrl-C in the terminal and its end do not reach the server.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, report, kReportFd);
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, pointers(start.arguments).data(),
                    pointers(start.environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return file_error("start", "a process of this program", error);
  return pid;
}

// What came so far without a whole "ready" or "failed"; nothing more is read after those.
struct Report {
  std::string rest = {};
  bool ready = false;
  std::string failure = {};

  void take(std::string_view bytes, const std::function<void(std::string_view)>& progress) {
    rest.append(bytes);
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string::npos;) {
      const std::string line = rest.substr(0, end);
      rest.erase(0, end + 1);
      const std::string_view text =
          std::string_view(line).substr(std::min(line.find(' '), line.size() - 1) + 1);
      if (line == "ready") ready = true;
      if (line.starts_with("failed ")) failure = text;
      if (line.starts_with("progress ") && progress) progress(text);
    }
  }
};

Result<void> wait_ready(int pipe, const ServerStart& start, Clock& clock) {
  const Monotonic deadline = clock.monotonic() + start.ready_max;
  Report report;
  std::array<char, 4096> buffer{};
  while (!report.ready && report.failure.empty()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock.monotonic());
    if (left.count() <= 0 || !readable(pipe, left))
      return fail(Errc::kTimeout, "the server was not ready after {} s", start.ready_max.count());
    const ssize_t count = ::read(pipe, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || report.rest.size() > kReportBytesMax)
      return fail(Errc::kUnavailable, "the server ended while it was starting");
    report.take({buffer.data(), static_cast<std::size_t>(count)}, start.progress);
  }
  if (!report.ready) return fail(Errc::kInvalid, "{}", report.failure);
  return {};
}

}  // namespace

Result<std::optional<RunningServer>> find_server(const DataFolder& folder) {
  TRY(const auto holder, lock_holder(folder));
  if (!holder) return std::nullopt;
  RunningServer running{.pid = *holder};
  auto status = read_server_status(folder);
  // A file of an earlier process says nothing about this one, which is still starting.
  if (status && status->pid == *holder) running.status = *std::move(status);
  return running;
}

std::string describe(const RunningServer& running) {
  return fmt::format("already running (pid {}, {})", running.pid,
                     running.status ? server_url(running.status->port) : "not ready yet");
}

Result<pid_t> start_server(const DataFolder& folder, const ServerStart& start, Clock& clock) {
  TRY(const Fd log, open_log(folder));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return file_error("make", "a pipe", errno);
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  TRY(const pid_t pid, spawn(start, log.get(), writer.get()));
  writer.close();  // the end of the server is the end of the pipe
  auto ready = wait_ready(reader.get(), start, clock);
  if (ready) return pid;
  if (ready.error().code == Errc::kTimeout) ::kill(pid, SIGKILL);
  int ignored = 0;
  (void)::waitpid(pid, &ignored, 0);  // it said that it ends, or was killed
  return std::unexpected(std::move(ready).error());
}

Result<bool> end_server(const DataFolder& folder, pid_t pid, std::chrono::seconds grace) {
  const Fd process(::pidfd_open(pid, 0));
  const bool gone = process.get() < 0 && errno == ESRCH;
  if (process.get() < 0 && !gone) return file_error("reach", fmt::format("process {}", pid), errno);
  // Asked again after the handle was taken: now the number cannot mean another process.
  TRY(const auto holder, lock_holder(folder));
  if (gone || holder != pid) return false;
  const auto signal = [&process](int number) {
    return ::pidfd_send_signal(process.get(), number, nullptr, 0) == 0 || errno == ESRCH;
  };
  if (!signal(SIGTERM)) return file_error("end", fmt::format("process {}", pid), errno);
  if (readable(process.get(), grace)) return false;
  if (!signal(SIGKILL)) return file_error("kill", fmt::format("process {}", pid), errno);
  if (!readable(process.get(), kKillMax))
    return fail(Errc::kTimeout, "process {} did not end after SIGKILL", pid);
  remove_server_status(folder);
  return true;
}

std::string log_tail(const DataFolder& folder, std::size_t lines) {
  const auto text = kube::read_file(folder.file("log"), kLogBytesMax);
  if (!text) return "";
  std::size_t at = text->size();
  for (std::size_t seen = 0; at > 0; --at)
    if ((*text)[at - 1] == '\n' && at != text->size() && ++seen == lines) break;
  return text->substr(at);
}

void report_start(std::string_view line) {
  const std::string text = std::string(line) + "\n";
  const ssize_t ignored = ::write(kReportFd, text.data(), text.size());
  (void)ignored;
}

}  // namespace amdahl::local
