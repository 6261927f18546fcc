#include "operator/kube/subprocess.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <cctype>
#include <csignal>
#include <filesystem>

#include "base/task_group.hpp"
#include "operator/kube/environment.hpp"

namespace amdahl::kube {
namespace {
using namespace std::chrono_literals;

SubprocessSpec shell(std::string script, std::vector<std::string> arguments = {}) {
  SubprocessSpec spec{.arguments = {"/bin/sh", "-c", std::move(script), "sh"},
                      .environment = {"PATH=/usr/bin:/bin"}};
  spec.arguments.insert(spec.arguments.end(), arguments.begin(), arguments.end());
  return spec;
}

Result<SubprocessOutcome> run(SubprocessSpec spec, std::chrono::milliseconds limit = 20s) {
  boost::asio::io_context io;
  RealClock clock;
  return run_until_complete(io, run_subprocess(std::move(spec), clock, clock.monotonic() + limit));
}

// Gone, or dead and only waiting for its parent to notice.
bool is_dead(const std::string& pid) {
  const auto stat = read_file("/proc/" + pid + "/stat", 4096);
  return !stat || stat->contains(") Z ");
}

// SIGKILL was sent to it, but nobody waits for it: it needs a turn on the processor to die.
bool dies_soon(const std::string& pid) {
  boost::asio::io_context io;
  RealClock clock;
  const Monotonic limit = clock.monotonic() + 5s;
  while (!is_dead(pid) && clock.monotonic() < limit) run_until_complete(io, clock.sleep_for(5ms));
  return is_dead(pid);
}

// A directory for what a script writes; removed at the end.
struct TempDir {
  TempDir() { REQUIRE(::mkdtemp(path) != nullptr); }
  ~TempDir() { std::filesystem::remove_all(path); }
  char path[32] = "/tmp/amdahl-kube-XXXXXX";
};

std::string trimmed(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  return text;
}

TEST_CASE("A program's output, error output and exit code come back", "[C4]") {
  const auto outcome = run(shell("echo out; echo err >&2; exit 3"));
  REQUIRE(outcome);
  CHECK(outcome->out == "out\n");
  CHECK(outcome->err == "err\n");
  CHECK(outcome->exit_code == 3);
  CHECK(outcome->signal == 0);
  CHECK(run(shell("kill -TERM $$"))->signal == SIGTERM);
}

TEST_CASE("Arguments reach the program as they are, without a shell", "[C4]") {
  const SubprocessSpec spec{.arguments = {"/usr/bin/printf", "%s|", "a b", "$(id)", "*", ";", ""},
                            .environment = {}};
  CHECK(run(spec)->out == "a b|$(id)|*|;||");
}

TEST_CASE("The program gets the given variables and no others", "[C4]") {
  CHECK(run({.arguments = {"/usr/bin/env"}, .environment = {"A=1", "B=x y"}})->out ==
        "A=1\nB=x y\n");
}

TEST_CASE("Standard input is empty and no descriptor is inherited", "[C4]") {
  CHECK(run(shell("cat; echo end"))->out == "end\n");
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int leaked = ::fcntl(null, F_DUPFD, 57);  // not close-on-exec, as Asio's sockets
  const auto outcome = run({.arguments = {"/bin/ls", "/proc/self/fd"}, .environment = {}});
  ::close(leaked);
  ::close(null);
  REQUIRE(leaked == 57);
  CHECK(outcome->out == "0\n1\n2\n3\n");  // 3 is the directory it reads
}

TEST_CASE("A program that prints too much is stopped at the cap", "[C4]") {
  SubprocessSpec spec = shell("while :; do echo 0123456789abcdef; done");
  spec.stdout_max = 100'000;
  const auto outcome = run(spec);
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == Errc::kTooLarge);
  // The cap itself is allowed, also when all of it comes right before the end.
  SubprocessSpec exact = shell("printf 1234");
  exact.stdout_max = 4;
  CHECK(run(exact)->out == "1234");
  exact.stdout_max = 3;
  CHECK(run(exact).error().code == Errc::kTooLarge);
}

TEST_CASE("Of a flood of error output the beginning is kept", "[C4]") {
  SubprocessSpec spec = shell("echo first >&2; head -c 1000000 /dev/zero >&2; echo ok");
  spec.stderr_max = 100;
  const auto outcome = run(spec);
  REQUIRE(outcome);
  CHECK(outcome->out == "ok\n");
  CHECK(outcome->err.size() == 100);
  CHECK_THAT(outcome->err, Catch::StartsWith("first\n"));
}

TEST_CASE("A program that hangs is killed at the deadline with all it started", "[C4]") {
  const TempDir dir;
  const std::string pids = std::string(dir.path) + "/pids";
  const auto outcome =
      run(shell("trap '' TERM; sleep 1000 & echo $$ $! > \"$1\"; wait", {pids}), 300ms);
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == Errc::kTimeout);
  const auto written = read_file(pids, 100);
  REQUIRE(written);
  const std::size_t space = written->find(' ');
  CHECK(is_dead(written->substr(0, space)));
  CHECK(dies_soon(trimmed(written->substr(space + 1))));
}

TEST_CASE("What a program leaves behind does not delay its result", "[C4]") {
  RealClock clock;
  const Monotonic start = clock.monotonic();
  const auto outcome = run(shell("sleep 5 & echo $!"));
  REQUIRE(outcome);
  CHECK(clock.monotonic() - start < 4s);
  ::kill(std::stoi(outcome->out), SIGKILL);
}

Task<void> keep_result(SubprocessSpec spec, Clock& clock, std::optional<Errc>& into) {
  auto outcome = co_await run_subprocess(std::move(spec), clock, Monotonic::max());
  if (!outcome) into = outcome.error().code;
}

std::string wait_for_file(boost::asio::io_context& io, const std::string& path) {
  RealClock clock;
  const Monotonic limit = clock.monotonic() + 10s;
  while (clock.monotonic() < limit) {
    if (auto text = read_file(path, 100); text && text->ends_with('\n')) return trimmed(*text);
    run_until_complete(io, clock.sleep_for(5ms));
  }
  return "";
}

TEST_CASE("A cancelled task takes its program with it", "[C4]") {
  const TempDir dir;
  const std::string file = std::string(dir.path) + "/pid";
  boost::asio::io_context io;
  RealClock clock;
  std::optional<Errc> code;
  const auto task = RunningTask::start(
      io.get_executor(),
      keep_result(shell("echo $$ > \"$1\"; exec sleep 1000", {file}), clock, code), nullptr);
  const std::string pid = wait_for_file(io, file);
  REQUIRE_FALSE(is_dead(pid));
  task->stop();
  io.restart();
  io.run_for(2s);
  CHECK(task->ended());
  CHECK(code == Errc::kCancelled);
  CHECK(is_dead(pid));
}

TEST_CASE("A task that is destroyed takes its program with it", "[C4]") {
  const TempDir dir;
  const std::string file = std::string(dir.path) + "/pid";
  RealClock clock;
  std::optional<Errc> code;
  std::string pid;
  {
    boost::asio::io_context io;
    RunningTask::start(io.get_executor(),
                       keep_result(shell("echo $$ > \"$1\"; exec sleep 1000", {file}), clock, code),
                       nullptr);
    pid = wait_for_file(io, file);
    REQUIRE_FALSE(is_dead(pid));
  }
  CHECK(is_dead(pid));
}

TEST_CASE("Programs that cannot be started are errors", "[C4]") {
  CHECK(run({.arguments = {"/no/such/program"}}).error().code == Errc::kNotFound);
  CHECK(run({.arguments = {"/etc/passwd"}}).error().code == Errc::kIo);
  CHECK(run({.arguments = {}}).error().code == Errc::kInvalid);
  CHECK(run(shell("true", {std::string("a\0b", 3)})).error().code == Errc::kInvalid);
}

}  // namespace
}  // namespace amdahl::kube
