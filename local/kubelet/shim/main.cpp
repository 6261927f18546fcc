// The program that holds one container: started by the kubelet for each, never by a person.
//
//   amdahl-shim          runs what kShimSpecFd says (shim_spec.hpp)
//   amdahl-shim probe    exit code 0 when containers may have namespaces here; else says why not
//
//   kubelet -- shim -- process 1 of the container -- program     with namespaces
//   kubelet -- shim -- program                                   without
//
// With namespaces nothing survives: the kernel ends the container with its process 1, process 1
// with the shim and the shim with the kubelet. Without, the shim is told by a closed pipe that the
// kubelet is gone, and kills every process below it.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "base/json_decode.hpp"
#include "local/kubelet/shim/namespaces.hpp"
#include "local/kubelet/shim/supervise.hpp"

namespace {
using namespace amdahl;
using namespace amdahl::local;

Result<ShimSpec> read_spec() {
  std::string text;
  char buffer[65536];
  while (text.size() < kShimSpecBytesMax) {
    const ssize_t count = ::read(kShimSpecFd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(Errc::kIo, "read the spec: {}", errno_text(errno));
    if (count == 0) return decode<ShimSpec>(text);
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return fail(Errc::kTooLarge, "the spec has over {} bytes", kShimSpecBytesMax);
}

int tell_failure(const Error& error) {
  say("failed " + error.context);
  return 1;
}

// Returns when the program runs; its first error comes over a pipe that exec closes.
Result<pid_t> start_program(const ShimSpec& spec) {
  TRY(Pipe problem, make_pipe());
  ::fcntl(problem.read.get(), F_SETFL, 0);
  const pid_t program = ::fork();
  if (program < 0) return fail(Errc::kIo, "fork: {}", errno_text(errno));
  if (program == 0) {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setsid();
    const Error error = become_program(spec);
    [[maybe_unused]] const ssize_t told =
        ::write(problem.write.get(), error.context.data(), error.context.size());
    ::_exit(127);
  }
  problem.write.reset();
  std::string text;
  char buffer[512];
  for (ssize_t count = 0; (count = ::read(problem.read.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  if (!text.empty()) return fail(Errc::kInvalid, "{}", text);
  return program;
}

int run_program(const ShimSpec& spec) {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &children, nullptr);
  const auto program = start_program(spec);
  if (!program) return tell_failure(program.error());
  say("started");
  const auto ended = supervise(*program, spec);
  return ended ? 0 : tell_failure(ended.error());
}

// Process 1 of the container. `alive` closes when the shim has gone.
int run_inside(const ShimSpec& spec, const Fd& alive) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  char go = 0;
  if (::read(alive.get(), &go, 1) != 1) return 1;
  if (const auto view = set_up_view(spec); !view) return tell_failure(view.error());
  return run_program(spec);
}

int watch_inside(pid_t inside, const ShimSpec& spec) {
  const Fd ended(static_cast<int>(::syscall(SYS_pidfd_open, inside, 0)));
  while (true) {
    pollfd wait{.fd = ended.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wait, 1, spec.memory_bytes > 0 ? kMemoryWatchMs : -1);
    if (ready > 0 || (ready < 0 && errno != EINTR)) break;
    if (ready == 0 && over_memory(inside, spec.memory_bytes)) {
      say("oom");
      ::kill(inside, SIGKILL);
    }
  }
  int status = 0;
  ::waitpid(inside, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int run_with_namespaces(const ShimSpec& spec) {
  if (const auto entered = enter_namespaces(); !entered) return tell_failure(entered.error());
  // A new user namespace takes both away: to die with the kubelet, and to be seen by it in /proc.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_DUMPABLE, 1);
  auto alive = make_pipe();
  if (!alive) return tell_failure(alive.error());
  ::fcntl(alive->read.get(), F_SETFL, 0);
  const pid_t inside = ::fork();
  if (inside < 0) return tell_failure({.code = Errc::kIo, .context = "fork: " + errno_text(errno)});
  if (inside == 0) {
    alive->write.reset();
    ::_exit(run_inside(spec, alive->read));
  }
  if (::write(alive->write.get(), "g", 1) != 1) return 1;
  return watch_inside(inside, spec);
}

int run() {
  for (const int fd : {kShimSpecFd, kShimControlFd, kShimStatusFd})
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::signal(SIGPIPE, SIG_IGN);
  const auto spec = read_spec();
  if (!spec) return tell_failure(spec.error());
  if (spec->namespaces) return run_with_namespaces(*spec);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  return run_program(*spec);
}

int probe() {
  if (const auto entered = enter_namespaces(); !entered) {
    std::puts(entered.error().context.c_str());
    return 1;
  }
  std::fflush(stdout);
  const pid_t inside = ::fork();
  if (inside == 0) {
    const auto view = set_up_view({});
    if (!view) std::puts(view.error().context.c_str());
    std::fflush(stdout);
    ::_exit(view ? 0 : 1);
  }
  int status = 0;
  ::waitpid(inside, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool asked = argc == 2 && std::string_view(argv[1]) == "probe";
  if (argc > 1 && !asked) {
    std::fputs("amdahl-shim is started by amdahl for each container; see local/kubelet\n", stderr);
    return 2;
  }
  ::_exit(asked ? probe() : run());
}
