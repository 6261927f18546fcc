#include "runtime/launch/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "operator/api/report_env.hpp"

namespace amdahl::launch {
namespace {

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// python, python3, python3.11
bool is_interpreter(std::string_view program) {
  std::string_view name = file_name(program);
  if (!name.starts_with("python")) return false;
  name.remove_prefix(6);
  return name.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool starts_processes(std::string_view module) {
  static constexpr std::array kModules = {
      "torch.distributed.run",     "torch.distributed.launch",   "deepspeed",
      "deepspeed.launcher.runner", "accelerate.commands.launch", "accelerate"};
  return std::ranges::any_of(kModules, [&](std::string_view name) { return name == module; });
}

// The same launchers, installed as programs.
bool is_program(std::string_view path) {
  static constexpr std::array kPrograms = {"torchrun", "deepspeed", "accelerate",
                                           "accelerate-launch"};
  return std::ranges::any_of(kPrograms,
                             [&](std::string_view one) { return one == file_name(path); });
}

bool is_script(std::string_view word) {
  constexpr std::string_view kSuffix = ".py";
  return word.ends_with(kSuffix) && file_name(word).size() > kSuffix.size();
}

// What an interpreter is to run.
struct Target {
  std::size_t at = 0;           // the word of the script, or the one with m in it
  std::size_t words = 1;        // "-m MODULE" has two
  std::string_view flags = {};  // in the same word before m: "-u" of "-umMODULE"
  std::string_view module = {};
};

// nullopt: code, standard input, or nothing. Short options may share a word, and what an option
// takes may follow in its word or in the next one.
template <class Words>
std::optional<Target> find_target(const Words& command) {
  for (std::size_t at = 1; at < command.size(); ++at) {
    const std::string_view word = command[at];
    if (!word.starts_with('-')) return Target{.at = at};
    if (word == "-" || word == "--") return std::nullopt;
    if (word == "--check-hash-based-pycs") ++at;
    if (word.starts_with("--")) continue;
    const std::size_t taking = word.find_first_of("mcWX", 1);
    if (taking == std::string_view::npos) continue;
    const std::string_view rest = word.substr(taking + 1);
    if (word[taking] == 'c') return std::nullopt;
    if (word[taking] != 'm') {
      if (rest.empty()) ++at;
      continue;
    }
    const std::string_view flags = taking > 1 ? word.substr(0, taking) : std::string_view();
    if (!rest.empty()) return Target{.at = at, .flags = flags, .module = rest};
    if (at + 1 == command.size()) return std::nullopt;
    return Target{.at = at, .words = 2, .flags = flags, .module = command[at + 1]};
  }
  return std::nullopt;
}

// In a list of folders such as PATH. An empty one would be the working directory.
void put_first(Variables& variables, std::string_view name, const std::string& folder) {
  const std::string_view before = variables.get(name);
  variables.set(name, before.empty() ? folder : fmt::format("{}:{}", folder, before));
}

}  // namespace

std::vector<std::string> start_command(Runtime runtime, std::vector<std::string> command,
                                       std::string python) {
  if (runtime == Runtime::kPython || command.empty()) return command;
  if (is_script(command[0])) command.insert(command.begin(), std::move(python));
  if (!is_interpreter(command[0])) return command;
  const auto target = find_target(command);
  if (!target || starts_processes(target->module)) return command;
  if (target->module.empty() && is_program(command[target->at])) return command;
  const auto place = command.begin() + static_cast<std::ptrdiff_t>(target->at);
  std::vector<std::string> started(command.begin(), place);
  if (!target->flags.empty()) started.emplace_back(target->flags);
  started.insert(started.end(), {"-m", "torch.distributed.run"});
  if (!target->module.empty())
    started.insert(started.end(), {"--module", std::string(target->module)});
  const std::size_t taken = target->module.empty() ? 0 : target->words;
  started.insert(started.end(), place + static_cast<std::ptrdiff_t>(taken), command.end());
  return started;
}

bool is_launcher(std::span<const std::string_view> command) {
  // "bash torchrun" and "python /usr/bin/torchrun" are how a script with #! is shown.
  if (std::ranges::any_of(command.first(std::min<std::size_t>(2, command.size())), is_program))
    return true;
  if (command.empty() || !is_interpreter(command[0])) return false;
  const auto target = find_target(command);
  return target && starts_processes(target->module);
}

Variables trainer_variables(const Settings& settings, const OwnFiles& files, Variables variables) {
  namespace env = api::report_env;
  const auto set_unless_empty = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) variables.set(name, value);
  };
  set_unless_empty("AMDAHL_SOCKET", files.socket);
  set_unless_empty("TORCHELASTIC_ERROR_FILE", files.error_file);
  set_unless_empty(env::kCheckpointSocket, files.checkpoint_socket);
  set_unless_empty(env::kHostfile, files.hostfile);
  set_unless_empty(env::kCheckpointMarker, settings.marker);
  if (!files.hooks.empty()) put_first(variables, "PYTHONPATH", files.hooks);
  variables.set(env::kRank, fmt::format("{}", settings.rank));
  variables.set(env::kNodes, fmt::format("{}", settings.nodes));
  // torchrun kills its workers 30 s after SIGTERM unless told that there is more (or less) time.
  constexpr std::string_view kShutdown = "TORCH_ELASTIC_SHUTDOWN_TIMEOUT";
  if (settings.runtime != Runtime::kPython && !variables.has(kShutdown)) {
    const auto time = plan_grace(settings.grace).terminate_all;
    variables.set(kShutdown, fmt::format("{}", std::max<std::int64_t>(1, time.count() / 1000)));
  }
  return variables;
}

std::string hostfile_text(const Settings& settings) {
  std::string text;
  if (settings.runtime != Runtime::kDeepSpeed || settings.host_pattern.empty()) return text;
  for (std::int64_t node = 0; node < settings.nodes; ++node)
    text += fmt::format("{} slots={}\n", host_name(settings.host_pattern, node), settings.slots);
  return text;
}

}  // namespace amdahl::launch
