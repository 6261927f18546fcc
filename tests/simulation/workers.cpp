#include "tests/simulation/workers.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/fields.hpp"

namespace amdahl::simulation {
namespace {

constexpr std::size_t kLineMax = 3'500;  // below PIPE_BUF, so that lines of workers do not mix

void send(int pipe, const Json& line) {
  const std::string text = line.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
  if (::write(pipe, text.data(), text.size()) != static_cast<ssize_t>(text.size())) ::_exit(3);
}

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

struct Share {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  unsigned step = 1;
  std::int64_t silence_ms = 0;
};

void work(int pipe, const Share& share, const std::function<Scenario(std::uint64_t)>& scenario) {
  Trials trials;
  trials.silence_ms = share.silence_ms;
  std::uint64_t runs = 0;
  std::uint64_t virtual_ms = 0;
  for (std::uint64_t index = share.first; index < share.count; index += share.step) {
    const Scenario one = scenario(index);
    const Verdict verdict = trials.play(one);
    ++runs;
    virtual_ms += static_cast<std::uint64_t>(verdict.run.virtual_ms);
    if (!verdict.violations.empty())
      send(pipe, {{"seed", one.seed},
                  {"index", index},
                  {"first", verdict.violations.front().substr(0, kLineMax / 2)}});
  }
  send(pipe, {{"runs", runs}, {"virtual_ms", virtual_ms}, {"cpu", cpu_seconds()}});
}

void take(Tally& tally, const Json& line) {
  if (line.contains("runs")) {
    tally.runs += line.value("runs", std::uint64_t{0});
    tally.virtual_ms += line.value("virtual_ms", std::uint64_t{0});
    tally.cpu_seconds += line.value("cpu", 0.0);
  } else {
    tally.failures.push_back({.seed = line.value("seed", std::uint64_t{0}),
                              .index = line.value("index", std::uint64_t{0}),
                              .first = line.value("first", "")});
  }
}

void read_lines(int pipe, Tally& tally) {
  std::string buffer;
  char bytes[4096];
  for (;;) {
    const ssize_t size = ::read(pipe, bytes, sizeof bytes);
    if (size <= 0) return;
    buffer.append(bytes, static_cast<std::size_t>(size));
    for (auto end = buffer.find('\n'); end != buffer.npos; end = buffer.find('\n')) {
      take(tally, Json::parse(buffer.substr(0, end), nullptr, false));
      buffer.erase(0, end + 1);
    }
  }
}

}  // namespace

Result<Tally> play_all(std::uint64_t count, unsigned jobs, std::int64_t silence_ms,
                       const std::function<Scenario(std::uint64_t)>& scenario) {
  const RealClock clock;
  const Monotonic start = clock.monotonic();
  int ends[2];
  if (::pipe(ends) != 0) return fail(Errc::kIo, "simulate: no pipe");
  std::vector<pid_t> workers;
  for (unsigned job = 0; job < jobs; ++job) {
    const pid_t child = ::fork();
    if (child < 0) return fail(Errc::kIo, "simulate: no more processes");
    if (child == 0) {
      ::close(ends[0]);
      work(ends[1], {.first = job, .count = count, .step = jobs, .silence_ms = silence_ms},
           scenario);
      ::_exit(0);
    }
    workers.push_back(child);
  }
  ::close(ends[1]);
  Tally tally;
  read_lines(ends[0], tally);
  ::close(ends[0]);
  std::string died;
  for (const pid_t worker : workers) {
    int status = 0;
    if (::waitpid(worker, &status, 0) == worker && status == 0) continue;
    died = WIFSIGNALED(status) ? fmt::format("of signal {}", WTERMSIG(status))
                               : fmt::format("with exit code {}", WEXITSTATUS(status));
  }
  if (!died.empty())
    return fail(Errc::kIo, "simulate: a worker died {}; --jobs 1 shows which seed it was", died);
  tally.wall_seconds = std::chrono::duration<double>(clock.monotonic() - start).count();
  std::ranges::sort(tally.failures, {}, &Tally::Failure::index);
  return tally;
}

}  // namespace amdahl::simulation
