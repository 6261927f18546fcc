// amdahl-launch: the first process of a trainer's container. See README.md.
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "checkpoint/engine/agent_socket.hpp"
#include "runtime/launch/checkpointer.hpp"
#include "runtime/launch/command.hpp"
#include "runtime/launch/find_program.hpp"
#include "runtime/launch/install.hpp"
#include "runtime/launch/log_keeper.hpp"
#include "runtime/launch/observer.hpp"
#include "runtime/launch/own_files.hpp"
#include "runtime/launch/run_arguments.hpp"
#include "runtime/launch/settings.hpp"
#include "runtime/launch/supervisor.hpp"

namespace {
using namespace amdahl;
using namespace amdahl::launch;

constexpr int kUsage = 2;
constexpr std::string_view kHelp =
    "usage: amdahl-launch run [--env=NAME=VALUE...] -- COMMAND [ARGUMENT...]\n"
    "                                       start a trainer and look after it\n"
    "       amdahl-launch install FOLDER    put this program there\n"
    "       amdahl-launch version\n"
    "\n"
    "As the first process of a container, `run` starts COMMAND, passes signals on, reaps, reports\n"
    "to AMDAHL_REPORT_URL and exits as COMMAND did: 127 when it is not there, 126 when it cannot "
    "be\n"
    "executed, 128 + n after signal n. Variables given by --env are set before anything else, and\n"
    "$(NAME) of them is filled in in COMMAND.\n"
    "\n"
    "With AMDAHL_HOOKS=1, a folder that counts the steps of torch and DeepSpeed is put first on\n"
    "PYTHONPATH.\n"
    "\n"
    "With AMDAHL_RUNTIME=Torchrun or DeepSpeed, a script (train.py, python train.py, python -m\n"
    "train) is started through torch.distributed.run. Any other command runs as it is; if its\n"
    "processes do not form a world of PET_NNODES x PET_NPROC_PER_NODE, exit code 0 becomes 126.\n";

// To standard error, if it can be written at once: a log that stands still stops nobody.
void complain(std::string_view text) {
  constexpr std::size_t kLineMax = 4000;
  const std::string line = "amdahl-launch: " + std::string(text.substr(0, kLineMax)) + "\n";
  pollfd log{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&log, 1, 0) == 1) (void)!::write(STDERR_FILENO, line.data(), line.size());
}

void say(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

Variables own_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return Variables(std::move(entries));
}

// Of the processes that look after the trainer beside the supervisor: they end when it says so.
void become_own_process(pid_t supervisor) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) std::_Exit(1);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE})
    ::signal(signal, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

std::uint64_t seed_of(const Clock& clock) {
  return static_cast<std::uint64_t>(clock.wall().time_since_epoch().count()) ^
         static_cast<std::uint64_t>(::getpid());
}

// Never returns into the supervisor's code.
[[noreturn]] void be_observer(pid_t supervisor, ObserverOptions options, Channel channel) {
  become_own_process(supervisor);
  RealClock clock;
  options.seed = seed_of(clock);
  boost::asio::io_context io(1);
  Observer observer(io.get_executor(), clock, std::move(options), std::move(channel));
  boost::asio::co_spawn(io, observer.run(), [&](const std::exception_ptr& failure) {
    if (failure) complain("the observer failed");
    std::_Exit(failure ? 1 : 0);
  });
  io.run();
  std::_Exit(0);
}

// What the parent does without; -1 when there is no second process to be had.
pid_t fork_observer(ChannelPair& channel, ObserverOptions options) {
  const pid_t supervisor = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    channel.first.close();
    be_observer(supervisor, std::move(options), std::move(channel.second));
  }
  channel.second.close();
  return child;
}

// One that replaces another is a child of a supervisor that has much open already.
void close_all_but(std::vector<int> kept) {
  std::ranges::sort(kept);
  auto next = static_cast<unsigned>(STDERR_FILENO + 1);
  for (const int fd : kept) {
    const auto here = static_cast<unsigned>(fd);
    if (here > next) (void)::syscall(SYS_close_range, next, here - 1, 0U);
    next = here + 1;
  }
  (void)::syscall(SYS_close_range, next, ~0U, 0U);
}

// `commits`: to the observer; kept open for the next one.
Result<StartedCheckpointer> fork_checkpointer(const std::string& socket, const Variables& variables,
                                              const Fd& commits) {
  (void)::unlink(socket.c_str());  // of one that crashed
  TRY(Fd listener, checkpoint::listen_for_trainers(socket));
  TRY(Pipe control, make_pipe());
  TRY(Fd told, duplicate_fd(commits.get()));
  const pid_t supervisor = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fail(Errc::kIo, "fork: {}", errno_text(errno));
  if (child == 0) {
    become_own_process(supervisor);
    ::prctl(PR_SET_NAME, "checkpointer");  // for who looks at processes
    close_all_but({listener.get(), control.read.get(), told.get()});
    RealClock clock;
    std::_Exit(run_checkpointer(clock, {.listener = std::move(listener),
                                        .control = std::move(control.read),
                                        .commits = Channel(std::move(told)),
                                        .variables = variables,
                                        .seed = seed_of(clock),
                                        .complain = complain}));
  }
  return StartedCheckpointer{.pid = child, .control = std::move(control.write)};
}

// Before the observer, which hears of commits. Without one the trainer writes its checkpoints
// itself.
struct Checkpointer {
  StartedCheckpointer first = {};
  std::function<Result<StartedCheckpointer>()> again{};
  Channel commits{Fd()};  // the observer's end
};
Result<Checkpointer> make_checkpointer(const std::string& socket, const Variables& variables) {
  TRY(ChannelPair commits, make_channel());
  TRY(Fd told, duplicate_fd(commits.first.fd()));
  Checkpointer made{.commits = std::move(commits.second)};
  TRY(made.first, fork_checkpointer(socket, variables, told));
  made.again = [socket, variables, told = std::make_shared<const Fd>(std::move(told))] {
    return fork_checkpointer(socket, variables, *told);
  };
  return made;
}

Checkpointer start_checkpointer(OwnFiles& files, const Variables& variables) {
  if (files.checkpoint_socket.empty()) return {};
  auto made = make_checkpointer(files.checkpoint_socket, variables);
  if (made) return *std::move(made);
  complain("no checkpointer: " + made.error().context);
  files.checkpoint_socket.clear();
  return {};
}

// For a command that is only a script: as most images have it.
std::string interpreter_of(const Settings& settings) {
  return find_program("python3", settings.search_path) ? "python3" : "python";
}

int run(RunArguments arguments) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Variables given = with_given(own_environment(), arguments);
  Settings settings = read_settings(given);
  const OwnFolder folder(settings, settings.complaints);
  for (const std::string& text : settings.complaints) complain(text);
  OwnFiles files = folder.files();
  Checkpointer checkpointer = start_checkpointer(files, given);
  const std::vector<std::string> command =
      start_command(settings.runtime, arguments.command, interpreter_of(settings));
  auto signals = Supervisor::take_signals();
  auto channel = make_channel();
  if (!signals) complain(signals.error().context);
  SupervisorOptions options{.command = command,
                            .environment = trainer_variables(settings, files, given).entries(),
                            .search_path = settings.search_path,
                            .termination_log = settings.termination_log,
                            .grace = settings.grace,
                            .start_wait = settings.host_wait + std::chrono::seconds{5},
                            .checkpointer = std::move(checkpointer.first),
                            .restart_checkpointer = std::move(checkpointer.again),
                            .complain = complain};
  Channel link{Fd()};
  if (channel) {
    options.observer = fork_observer(*channel, {.settings = settings,
                                                .socket = files.socket,
                                                .error_file = files.error_file,
                                                .commits = std::move(checkpointer.commits),
                                                .wrapped = command != arguments.command,
                                                .complain = complain});
    if (options.observer > 0) link = std::move(channel->first);
  }
  if (!link.open()) complain("no observer; the trainer runs unreported");
  RealClock clock;
  LogKeeperOptions kept = log_keeper_options(settings, given);
  kept.seed = seed_of(clock);
  kept.complain = complain;
  LogKeeper log(clock, std::move(kept));
  options.log = &log;
  return Supervisor(clock, std::move(options), std::move(link),
                    signals ? std::move(*signals) : Fd())
      .run();
}

int install_into(const char* self, const std::string& folder) {
  const bool proc = ::access("/proc/self/exe", R_OK) == 0;
  const auto path = install(proc ? "/proc/self/exe" : self, folder);
  if (!path) complain(path.error().context);
  return path ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string verb = arguments.empty() ? "" : arguments[0];
  if (verb == "run") return run(read_run_arguments({arguments.begin() + 1, arguments.end()}));
  if (verb == "install" && arguments.size() == 2) return install_into(argv[0], arguments[1]);
  if (verb == "version") {
    say(stdout, "amdahl-launch " AMDAHL_VERSION "\n");
    return 0;
  }
  const bool help = verb == "--help" || verb == "-h" || verb == "help";
  say(help ? stdout : stderr, kHelp);
  return help ? 0 : kUsage;
}
