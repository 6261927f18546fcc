#include "runtime/launch/process_table.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace amdahl;
using namespace amdahl::launch;

namespace {

constexpr std::uint64_t bit(int signal) {
  return std::uint64_t{1} << static_cast<unsigned>(signal - 1);
}

}  // namespace

TEST_CASE("parse_process_status reads what the kernel writes") {
  const auto process = parse_process_status(
      "Name:\tPid: 7 PPid: 8\nState:\tS (sleeping)\nTgid:\t12\nPid:\t12\nPPid:\t3\n"
      "SigIgn:\t0000000000000000\nSigCgt:\t0000000000004200\n");
  CHECK(process == ProcessInfo{.pid = 12, .parent = 3, .caught = bit(SIGUSR1) | bit(SIGTERM)});
  CHECK_FALSE(parse_process_status(""));
  CHECK_FALSE(parse_process_status("Pid:\tx\nPPid:\t1\n"));
}

TEST_CASE("descendants_of finds grandchildren in any order and leaves out the dead") {
  const std::vector<ProcessInfo> all = {{.pid = 5, .parent = 4},
                                        {.pid = 4, .parent = 2},
                                        {.pid = 2, .parent = 1},
                                        {.pid = 3, .parent = 1},
                                        {.pid = 6, .parent = 4, .zombie = true}};
  const auto below = descendants_of(2, all);
  REQUIRE(below.size() == 2);
  CHECK(below[0].pid == 4);
  CHECK(below[1].pid == 5);
}

TEST_CASE("signal_targets passes by a shell that does not catch, and spares who would die") {
  const auto table = [](std::uint64_t main, std::uint64_t child) {
    return std::vector<ProcessInfo>{{.pid = 2, .parent = 1, .caught = main},
                                    {.pid = 3, .parent = 2, .caught = child}};
  };
  const std::vector<pid_t> main = {2};
  const std::vector<pid_t> child = {3};
  CHECK(signal_targets(2, SIGTERM, table(bit(SIGTERM), bit(SIGTERM))) == main);
  CHECK(signal_targets(2, SIGTERM, table(0, bit(SIGTERM))) == child);
  CHECK(signal_targets(2, SIGTERM, table(0, 0)) == main);
  CHECK(signal_targets(2, SIGTERM, {}) == main);
  CHECK(saver_catches(2, SIGTERM, false, table(bit(SIGTERM), 0)));
  CHECK_FALSE(saver_catches(2, SIGTERM, true, table(bit(SIGTERM), 0)));
  CHECK(saver_catches(2, SIGTERM, true, table(bit(SIGTERM), bit(SIGTERM))));
  CHECK_FALSE(saver_catches(2, SIGUSR1, false, {}));
}

TEST_CASE("read_process_file tells a process that it may not read from one that is gone") {
  CHECK(read_process_file(::getpid(), "cmdline"));
  const auto gone = read_process_file(0, "environ");
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == Errc::kNotFound);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setresuid(65'534, 65'534, 65'534) != 0) ::_exit(2);
    const auto closed = read_process_file(1, "environ");
    ::_exit(!closed && closed.error().code == Errc::kForbidden ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("read_processes finds this one") {
  const auto all = read_processes();
  const ProcessInfo* self = find_process(::getpid(), all);
  REQUIRE(self != nullptr);
  CHECK(self->parent == ::getppid());
}
