// The processes of this container, from /proc: who descends from whom, and who catches a signal.
//
// A signal that a process does not catch usually kills it, so it is asked before it is sent one.
// Thread: any. Failure: without /proc the list is empty, and callers fall back to the one process
// they started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace amdahl::launch {

inline constexpr std::size_t kProcessesMax = 65'536;
inline constexpr std::size_t kProcessFileBytesMax = std::size_t{128} << 10U;

struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  std::uint64_t caught = 0;  // bit n - 1: signal n has a handler
  bool zombie = false;
  bool operator==(const ProcessInfo&) const = default;
};

// The text of /proc/PID/status.
std::optional<ProcessInfo> parse_process_status(std::string_view text);
std::vector<ProcessInfo> read_processes();

bool catches(const ProcessInfo& process, int signal);
// Below `root`, without it and without zombies.
std::vector<ProcessInfo> descendants_of(pid_t root, const std::vector<ProcessInfo>& all);
const ProcessInfo* find_process(pid_t pid, const std::vector<ProcessInfo>& all);
// The same by the kernel's lists of children, which costs little in a large table; where it keeps
// none, by the table. With `root`, which comes first.
std::vector<pid_t> family_of(pid_t root);
// A file of a process, such as environ or cmdline. kForbidden: it runs, and we may not read it, as
// those of another user are closed to a container's root without SYS_PTRACE.
Result<std::string> read_process_file(pid_t pid, std::string_view name);

// Who gets a signal that is meant for the trainer: `main` if it catches it or nobody does; else
// those below it who do. So a shell around a trainer does not swallow what the trainer waits for.
std::vector<pid_t> signal_targets(pid_t main, int signal, const std::vector<ProcessInfo>& all);
// Whether somebody who could save a checkpoint catches it. torchrun catches SIGTERM for itself, so
// with it (`wrapped`) only those below count.
bool saver_catches(pid_t main, int signal, bool wrapped, const std::vector<ProcessInfo>& all);

}  // namespace amdahl::launch
