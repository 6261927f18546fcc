// The process that runs an embedded cluster, seen from another one: is it there, start it, end it.
//
// A started server says how far it is through a pipe (file descriptor kReportFd): lines
// "progress TEXT", then "ready" or "failed TEXT". Thread: any; waits block, each with an end.
// Failure: errors name the folder or the process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "local/cluster/cluster_files.hpp"
#include "local/cluster/data_folder.hpp"

namespace amdahl::local {

inline constexpr int kReportFd = 3;

struct RunningServer {
  pid_t pid = 0;
  std::optional<ServerStatus> status = {};  // none: it is not ready yet
};
// Nothing when no server runs in the folder.
Result<std::optional<RunningServer>> find_server(const DataFolder& folder);
// "already running (pid 12, https://127.0.0.1:6443)"
std::string describe(const RunningServer& running);

struct ServerStart {
  std::vector<std::string> arguments = {};    // of the program that runs now, [0] included
  std::vector<std::string> environment = {};  // "NAME=value"
  std::chrono::seconds ready_max{30};
  std::function<void(std::string_view)> progress = {};
};
// Starts it in a session of its own, standard output and error in the folder's log, and waits until
// it is ready. Errc::kTimeout after ready_max: it is ended then.
Result<pid_t> start_server(const DataFolder& folder, const ServerStart& start, Clock& clock);

// SIGTERM, and SIGKILL when it is still there after `grace`. True: it had to be killed.
Result<bool> end_server(const DataFolder& folder, pid_t pid, std::chrono::seconds grace);

// The end of the log of the last start, for messages; "" when there is none.
std::string log_tail(const DataFolder& folder, std::size_t lines);

// For the started server: one line to whoever waits. Nobody waiting is no error.
void report_start(std::string_view line);

}  // namespace amdahl::local
