#include "local/kubelet/shim/supervise.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>

#include "local/kubelet/process_tree.hpp"

namespace amdahl::local {
namespace {

constexpr int kKillPauseMs = 10;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

std::string_view path_of(const ShimSpec& spec) {
  constexpr std::string_view kName = "PATH=";
  for (const std::string& variable : spec.environment)
    if (variable.starts_with(kName)) return std::string_view(variable).substr(kName.size());
  return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
}

// As execvp does, but with the PATH of the container.
std::optional<std::string> find_program(const ShimSpec& spec) {
  const std::string& name = spec.arguments.front();
  if (name.contains('/')) return name;
  std::string_view rest = path_of(spec);
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    std::string candidate = fmt::format("{}/{}", rest.substr(0, colon), name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  return std::nullopt;
}

Result<void> join_cgroup(const std::string& file) {
  if (file.empty()) return {};
  const Fd procs(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!procs || ::write(procs.get(), "0", 1) != 1)
    return fail(Errc::kIo, "join the cgroup of {}: {}", file, errno_text(errno));
  return {};
}

class Supervisor {
 public:
  Supervisor(pid_t program, const ShimSpec& spec) : program_(program), spec_(spec) {}

  Result<void> run() {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    const Fd reaper(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!reaper) return fail(Errc::kIo, "signalfd: {}", errno_text(errno));
    const bool watched = spec_.memory_bytes > 0 && !spec_.namespaces;
    while (!ended_) {
      pollfd fds[2] = {{.fd = reaper.get(), .events = POLLIN, .revents = 0},
                       {.fd = kShimControlFd, .events = POLLIN, .revents = 0}};
      ::poll(fds, control_open_ ? 2 : 1, watched ? kMemoryWatchMs : -1);
      signalfd_siginfo ignored{};
      while (::read(reaper.get(), &ignored, sizeof ignored) > 0) {
      }
      if (fds[1].revents != 0) take_command();
      if (watched && over_memory(::getpid(), spec_.memory_bytes)) {
        say("oom");
        signal_all(SIGKILL);
      }
      reap();
    }
    if (!spec_.namespaces) end_the_rest();
    return {};
  }

 private:
  void take_command() {
    char command = kShimKill;
    const ssize_t count = ::read(kShimControlFd, &command, 1);
    if (count < 0) return;
    if (count == 0) control_open_ = false;  // the kubelet is gone
    if (command != kShimTerminate) return signal_all(SIGKILL);
    // As in a container: what handles SIGTERM decides for the rest. A process 1 without a handler
    // would ignore it until its time is up; here everybody gets it then.
    if (handles_term(program_)) {
      ::kill(program_, SIGTERM);
      return;
    }
    signal_all(SIGTERM);
  }

  // By a handler, or from a signalfd, for which it is blocked.
  static bool handles_term(pid_t pid) {
    const std::string text = read_proc(fmt::format("/proc/{}/status", pid));
    return has_term(text, "SigCgt:") || has_term(text, "SigBlk:");
  }

  static bool has_term(const std::string& status, std::string_view mask) {
    const std::size_t at = status.find(mask);
    if (at == std::string::npos) return false;
    const char* const begin = status.c_str() + at + mask.size();
    return ((std::strtoull(begin, nullptr, 16) >> (SIGTERM - 1)) & 1U) != 0;
  }

  void signal_all(int signal) const {
    // As process 1 this means everybody in the namespace but us; anywhere else, the whole machine.
    if (spec_.namespaces && ::getpid() == 1) {
      ::kill(-1, signal);
      return;
    }
    for (const pid_t pid : descendants(::getpid())) ::kill(pid, signal);
  }

  void reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
      if (pid == program_) tell_end(status);
  }

  void tell_end(int status) {
    ended_ = true;
    const bool killed = WIFSIGNALED(status);
    say(fmt::format("exited {} {}", killed ? 0 : WEXITSTATUS(status),
                    killed ? WTERMSIG(status) : 0));
  }

  // A process may fork between our look and our signal, so this goes on until nobody is left.
  void end_the_rest() const {
    while (true) {
      signal_all(SIGKILL);
      if (::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return;
      ::poll(nullptr, 0, kKillPauseMs);
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
    }
  }

  pid_t program_;
  const ShimSpec& spec_;
  bool control_open_ = true;
  bool ended_ = false;
};

}  // namespace

void say(std::string_view line) {
  const std::string text = fmt::format("{}\n", line);
  // Nobody to tell when the kubelet has gone; then everything ends anyway.
  [[maybe_unused]] const ssize_t written = ::write(kShimStatusFd, text.data(), text.size());
}

bool over_memory(pid_t root, std::int64_t limit) {
  return memory_of(descendants(root), limit) > limit;
}

Error become_program(const ShimSpec& spec) {
  const auto problem = [&](std::string_view what, int error) {
    return Error{.code = Errc::kIo, .context = fmt::format("{}: {}", what, errno_text(error))};
  };
  if (auto joined = join_cgroup(spec.cgroup_procs); !joined) return joined.error();
  if (::chdir(spec.directory.c_str()) != 0)
    return problem(fmt::format("workingDir \"{}\"", spec.directory), errno);
  const auto program = find_program(spec);
  if (!program)
    return Error{.code = Errc::kNotFound,
                 .context = fmt::format("exec: \"{}\": executable file not found in $PATH",
                                        spec.arguments.front())};
  ::execve(program->c_str(), pointers(spec.arguments).data(), pointers(spec.environment).data());
  return problem(fmt::format("exec: \"{}\"", *program), errno);
}

Result<void> supervise(pid_t program, const ShimSpec& spec) {
  return Supervisor(program, spec).run();
}

}  // namespace amdahl::local
