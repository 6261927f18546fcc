// How the supervisor starts the trainer.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/spawn.hpp"
#include "runtime/launch/find_program.hpp"
#include "runtime/launch/supervisor.hpp"

namespace amdahl::launch {
namespace {

bool same_file(int first, int second) {
  struct stat a{};
  struct stat b{};
  return ::fstat(first, &a) == 0 && ::fstat(second, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

}  // namespace

Result<void> Supervisor::spawn_trainer() {
  if (options_.command.empty()) return fail(Errc::kNotFound, "no command was given");
  TRY(std::string program, find_program(options_.command[0], options_.search_path));
  const bool terminal = ::isatty(STDOUT_FILENO) == 1 || ::isatty(STDIN_FILENO) == 1;
  SpawnSpec spec{.arguments = options_.command,
                 .environment = options_.environment,
                 .null_input = false,
                 .own_group = !terminal};
  spec.arguments[0] = program;
  std::vector<Fd> ends;
  // A person at a terminal keeps it; its output is not looked at.
  if (!terminal) {
    TRY(Pipe out, make_pipe());
    spec.fds.emplace_back(out.write.get(), STDOUT_FILENO);
    streams_.emplace_back(std::move(out.read), STDOUT_FILENO);
    ends.push_back(std::move(out.write));
    if (same_file(STDOUT_FILENO, STDERR_FILENO)) {
      spec.fds.emplace_back(ends[0].get(), STDERR_FILENO);  // one pipe, so that the order stays
    } else {
      TRY(Pipe err, make_pipe());
      spec.fds.emplace_back(err.write.get(), STDERR_FILENO);
      streams_.emplace_back(std::move(err.read), STDERR_FILENO);
      ends.push_back(std::move(err.write));
    }
  }
  auto child = spawn(std::move(spec));
  if (!child && child.error().code == Errc::kNotFound)
    return fail(Errc::kForbidden, "{}: the interpreter or loader that it names is missing",
                program);
  if (!child) return fail(Errc::kForbidden, "{}", child.error().context);
  trainer_ = child->pid;
  return {};
}

void Supervisor::start() {
  phase_ = Phase::kRunning;
  if (const auto started = spawn_trainer(); !started) return could_not_start(started.error());
  feed_.event(Message::kStarted, fmt::format("{}", trainer_));
}

void Supervisor::could_not_start(const Error& error) {
  constexpr int kNotFound = 127;
  constexpr int kNotExecutable = 126;
  options_.complain(fmt::format("cannot start the trainer: {}", error.context));
  end_ = {.code = error.code == Errc::kNotFound ? kNotFound : kNotExecutable};
  begin_reporting(error.context);
}

}  // namespace amdahl::launch
