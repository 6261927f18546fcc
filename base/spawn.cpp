#include "base/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace amdahl {
namespace {

class Settings {
 public:
  Settings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~Settings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

void set_up(Settings& settings, const SpawnSpec& spec) {
  if (spec.null_input)
    posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  int last = STDERR_FILENO;
  for (const auto& [ours, theirs] : spec.fds) {
    posix_spawn_file_actions_adddup2(&settings.actions, ours, theirs);
    last = std::max(last, theirs);
  }
  // Asio does not mark its sockets close-on-exec; a child must not inherit them.
  posix_spawn_file_actions_addclosefrom_np(&settings.actions, last + 1);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setsigdefault(&settings.attributes, &all);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (spec.own_group) flags |= POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(&settings.attributes, flags);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

bool has_zero_byte(const std::vector<std::string>& texts) {
  return std::ranges::any_of(texts, [](const std::string& text) { return text.contains('\0'); });
}

}  // namespace

Result<Spawned> spawn(SpawnSpec spec) {
  if (spec.arguments.empty() || has_zero_byte(spec.arguments) || has_zero_byte(spec.environment))
    return fail(Errc::kInvalid, "start: an argument or variable is missing or has a zero byte");
  Settings settings;
  set_up(settings, spec);
  const auto argv = pointers(spec.arguments);
  const auto envp = pointers(spec.environment);
  Spawned child;
  const int error = ::posix_spawn(&child.pid, argv[0], &settings.actions, &settings.attributes,
                                  argv.data(), envp.data());
  if (error != 0)
    return fail(error == ENOENT ? Errc::kNotFound : Errc::kIo, "start {}: {}", spec.arguments[0],
                errno_text(error));
  // By number: glibc 2.36 declares pidfd_open without C linkage.
  child.pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
  if (child.pidfd) return child;
  const int pidfd_error = errno;
  ::kill(spec.own_group ? -child.pid : child.pid, SIGKILL);
  ::waitpid(child.pid, nullptr, 0);
  return fail(Errc::kIo, "start {}: pidfd_open: {} (Linux 5.3 or later is needed)",
              spec.arguments[0], errno_text(pidfd_error));
}

}  // namespace amdahl
