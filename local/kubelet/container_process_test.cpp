#include "local/kubelet/container_process.hpp"

#include <signal.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include "local/kubelet/isolation.hpp"
#include "local/kubelet/log_stream.hpp"
#include "local/kubelet/process_tree.hpp"
#include "local/kubelet/test_folder.hpp"

namespace amdahl::local {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

bool namespaces_permitted() {
  boost::asio::io_context io;
  RealClock clock;
  return run_until_complete(io, detect_isolation(AMDAHL_SHIM, IsolationWish::kBest, clock))
      .namespaces;
}

// Both ways that a machine may permit; says so when there is only one.
std::vector<bool> both_ways() {
  static const bool permitted = namespaces_permitted();
  if (permitted) return {true, false};
  WARN("no namespaces here: only the way without them is tested");
  return {false};
}

struct Bench {
  explicit Bench(bool with_namespaces) : namespaces(with_namespaces) {
    std::filesystem::create_directories(folder.file("scratch"));
  }
  ~Bench() {
    tasks.stop();
    CHECK(run_until_complete(io, tasks.join(clock, clock.monotonic() + seconds{5})));
  }

  ShimSpec shell(const std::string& script) const {
    return {.arguments = {"sh", "-c", script},
            .environment = {"PATH=/usr/bin:/bin", "AMDAHL_POD_FOLDER=" + folder.path()},
            .directory = folder.path(),
            .hostname = "box",
            .namespaces = namespaces,
            .scratch = folder.file("scratch")};
  }
  Result<std::shared_ptr<ContainerProcess>> start(ShimSpec spec) {
    end.reset();
    log = *LogWriter::open(folder.file("log"), 0);
    return run_until_complete(
        io, ContainerProcess::start(tasks, clock,
                                    {.name = "test",
                                     .shim = AMDAHL_SHIM,
                                     .spec = std::move(spec),
                                     .shim_variables = {"AMDAHL_POD_FOLDER=" + folder.path()},
                                     .log = log,
                                     .on_end = [this](ProgramEnd how) { end = std::move(how); }}));
  }
  template <class Ready>
  bool wait(Ready ready) {
    return run_until_complete(io, wait_task(clock, std::function<bool()>(ready)));
  }
  static Task<bool> wait_task(Clock& clock, std::function<bool()> ready) {
    for (int i = 0; i < 2000 && !ready(); ++i)
      if (!co_await clock.sleep_for(milliseconds{5})) break;
    co_return ready();
  }
  ProgramEnd run(ShimSpec spec) {
    const auto process = start(std::move(spec));
    INFO((process ? "" : process.error().context));
    REQUIRE(process);
    REQUIRE(wait([this] { return end.has_value(); }));
    return *end;
  }
  std::string printed() const {
    LogStream stream({.folder = folder.file("log")});
    std::string text;
    for (auto next = stream.next(); next.ready == WatchStream::Ready::kFrame; next = stream.next())
      text += next.bytes;
    return text;
  }
  std::size_t left() const { return marked_processes("AMDAHL_POD_FOLDER", folder.path()).size(); }

  bool namespaces;
  TestFolder folder;
  boost::asio::io_context io;
  RealClock clock;
  TaskGroup tasks{io.get_executor()};
  std::shared_ptr<LogWriter> log;
  std::optional<ProgramEnd> end;
};

TEST_CASE("ContainerProcess runs a program, keeps what it prints in order, and tells its exit") {
  for (const bool namespaces : both_ways()) {
    INFO("namespaces " << namespaces);
    Bench bench(namespaces);
    const ProgramEnd end = bench.run(bench.shell("echo out; echo err >&2; echo $0 out; exit 7"));
    CHECK(end.exit_code == 7);
    CHECK(end.signal == 0);
    CHECK(bench.printed() == "out\nerr\nsh out\n");
    CHECK(bench.run(bench.shell("kill -9 $$")).signal == SIGKILL);
    CHECK(bench.run(bench.shell("exit 0")).exit_code == 0);
    CHECK(bench.left() == 0);
  }
}

TEST_CASE("ContainerProcess gives a program its variables, its folder and nothing else") {
  for (const bool namespaces : both_ways()) {
    INFO("namespaces " << namespaces);
    Bench bench(namespaces);
    ShimSpec spec = bench.shell("pwd; ls /proc/self/fd | wc -l; read x || echo no input; env");
    bench.run(std::move(spec));
    const std::string printed = bench.printed();
    CHECK(printed.starts_with(bench.folder.path() + "\n4\nno input\n"));
    CHECK(printed.contains("AMDAHL_POD_FOLDER="));
    CHECK_FALSE(printed.contains("HOME="));
    CHECK_FALSE(printed.contains("LD_PRELOAD"));
  }
}

TEST_CASE("ContainerProcess says why a program cannot start") {
  for (const bool namespaces : both_ways()) {
    INFO("namespaces " << namespaces);
    Bench bench(namespaces);
    ShimSpec spec = bench.shell("");
    spec.arguments = {"no-such-program"};
    auto started = bench.start(spec);
    REQUIRE_FALSE(started);
    CHECK(started.error().context.contains(
        "\"no-such-program\": executable file not found in $PATH"));
    spec = bench.shell("true");
    spec.directory = "/no/such/folder";
    started = bench.start(spec);
    REQUIRE_FALSE(started);
    CHECK(started.error().context.contains("workingDir \"/no/such/folder\": No such file"));
  }
}

// A child in another session, an orphan, and a parent that goes on after the signal.
constexpr const char* kStubborn =
    "setsid sh -c 'trap \"echo child\" TERM; echo up; while :; do sleep 0.05; done' & "
    "(setsid sleep 1000 &); trap 'echo parent' TERM; echo up; while :; do sleep 0.05; done";

TEST_CASE("ContainerProcess: SIGTERM reaches the whole tree of a program without a handler") {
  for (const bool namespaces : both_ways()) {
    INFO("namespaces " << namespaces);
    Bench bench(namespaces);
    const std::string deaf =
        "setsid sh -c 'trap \"echo child\" TERM; echo up; while :; do sleep 0.05; done' & "
        "while :; do sleep 0.05; done";
    const auto process = bench.start(bench.shell(deaf));
    REQUIRE(process);
    REQUIRE(bench.wait([&] { return bench.printed() == "up\n" && bench.left() >= 3; }));
    (*process)->terminate();
    REQUIRE(bench.wait([&] { return bench.end.has_value(); }));
    CHECK(bench.end->signal == SIGTERM);
    CHECK(bench.left() == 0);
  }
}

TEST_CASE("ContainerProcess: a program that handles SIGTERM gets it alone") {
  for (const bool namespaces : both_ways()) {
    INFO("namespaces " << namespaces);
    Bench bench(namespaces);
    const auto process = bench.start(bench.shell(kStubborn));
    REQUIRE(process);
    REQUIRE(bench.wait([&] { return bench.printed() == "up\nup\n" && bench.left() >= 4; }));
    (*process)->terminate();
    REQUIRE(bench.wait([&] { return bench.printed().contains("parent"); }));
    CHECK_FALSE(bench.printed().contains("child"));
    CHECK_FALSE(bench.end);
    (*process)->kill();
    REQUIRE(bench.wait([&] { return bench.end.has_value(); }));
    CHECK(bench.end->signal == SIGKILL);
    CHECK(bench.left() == 0);
  }
}

TEST_CASE("ContainerProcess: a program that waits for a blocked SIGTERM gets it alone") {
  // As amdahl-launch does, which reads it from a signalfd.
  const std::string waiting =
      "exec python3 -c 'import signal, subprocess\n"
      "blocked = {signal.SIGTERM}\n"
      "script = \"trap \\\"echo child\\\" TERM; echo up; while :; do sleep 0.05; done\"\n"
      "child = subprocess.Popen([\"sh\", \"-c\", script])\n"
      "signal.pthread_sigmask(signal.SIG_BLOCK, blocked)\n"
      "print(\"ready\", flush=True)\n"
      "signal.sigwait(blocked)\n"
      "print(\"heard\", child.poll(), flush=True)\n"
      "child.kill()'";
  for (const bool namespaces : both_ways()) {
    INFO("namespaces " << namespaces);
    Bench bench(namespaces);
    const auto process = bench.start(bench.shell(waiting));
    REQUIRE(process);
    REQUIRE(bench.wait(
        [&] { return bench.printed().contains("up\n") && bench.printed().contains("ready\n"); }));
    (*process)->terminate();
    REQUIRE(bench.wait([&] { return bench.end.has_value(); }));
    CHECK(bench.printed().contains("heard None"));
    CHECK_FALSE(bench.printed().contains("child"));
    CHECK(bench.end->exit_code == 0);
  }
}

TEST_CASE("ContainerProcess: what a program leaves behind ends with it") {
  for (const bool namespaces : both_ways()) {
    INFO("namespaces " << namespaces);
    Bench bench(namespaces);
    CHECK(bench.run(bench.shell("(setsid sleep 1000 &) ; sleep 1000 & exit 3")).exit_code == 3);
    CHECK(bench.left() == 0);
  }
}

TEST_CASE("ContainerProcess: a program that takes too much memory is killed") {
  for (const bool namespaces : both_ways()) {
    INFO("namespaces " << namespaces);
    Bench bench(namespaces);
    ShimSpec spec = bench.shell("x=$(head -c 100000000 /dev/zero | tr '\\0' x); sleep 1000");
    spec.memory_bytes = 50'000'000;
    const ProgramEnd end = bench.run(std::move(spec));
    CHECK(end.out_of_memory);
    CHECK(bench.left() == 0);
  }
}

TEST_CASE("ContainerProcess mounts anywhere in its own view, and leaves the machine alone") {
  if (!both_ways().front()) return;  // it has said so
  Bench bench(true);
  bench.folder.write("v/file", "content");
  bench.folder.write("hosts", "127.64.0.9 gang-0.gang\n");
  bench.folder.write("last", "");
  ShimSpec spec = bench.shell(
      "cat /no/such/place/file; touch /data/deep/x; cat /etc/hosts; echo bye > "
      "/dev/termination-log; hostname; echo y > /no/such/place/file || echo refused; "
      "getent hosts gang-0.gang; ls -d /usr /etc/passwd /proc/1 /dev/null; echo > /dev/null");
  spec.mounts = {{.source = bench.folder.file("v"), .target = "/no/such/place", .read_only = true},
                 {.source = bench.folder.file("v"), .target = "/data"},
                 {.source = bench.folder.file("scratch"), .target = "/data/deep"},
                 {.source = bench.folder.file("hosts"), .target = "/etc/hosts"},
                 {.source = bench.folder.file("last"), .target = "/dev/termination-log"}};
  const auto process = bench.start(spec);
  INFO((process ? "" : process.error().context));
  REQUIRE(process);
  REQUIRE(bench.wait([&] { return bench.end.has_value(); }));
  const std::string printed = bench.printed();
  INFO(printed);
  CHECK(bench.end->exit_code == 0);
  CHECK(printed.starts_with("content127.64.0.9 gang-0.gang\nbox\n"));
  CHECK(printed.contains("refused"));
  CHECK(printed.contains("127.64.0.9"));
  CHECK(printed.ends_with("/dev/null\n/etc/passwd\n/proc/1\n/usr\n"));
  CHECK(text_of(bench.folder.file("last")) == "bye\n");
  CHECK(std::filesystem::exists(bench.folder.file("scratch/x")));
  CHECK_FALSE(std::filesystem::exists("/no"));
  CHECK_FALSE(std::filesystem::exists("/data/deep"));
}

TEST_CASE("kill_leftovers() ends processes of this data folder and no others") {
  Bench bench(false);
  std::filesystem::create_directories(bench.folder.file("pods/u"));
  ShimSpec spec = bench.shell("sleep 1000");
  spec.environment[1] = "AMDAHL_POD_FOLDER=" + bench.folder.file("pods/u");
  REQUIRE(bench.start(spec));
  CHECK(kill_leftovers(bench.folder.file("other")) == 0);
  REQUIRE(bench.wait([&] { return bench.left() >= 2; }));
  CHECK(kill_leftovers(bench.folder.path()) >= 1);
  REQUIRE(bench.wait([&] { return bench.end.has_value(); }));
  CHECK(bench.end->signal == SIGKILL);
}

}  // namespace
}  // namespace amdahl::local
