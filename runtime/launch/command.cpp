#include "runtime/launch/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

bool is_script(std::string_view word) {
  constexpr std::string_view kSuffix = ".py";
  return word.ends_with(kSuffix) && file_name(word).size() > kSuffix.size();
}

// Options of the interpreter that take the next argument.
bool takes_argument(std::string_view option) {
  return option == "-X" || option == "-W" || option == "--check-hash-based-pycs";
}

// The index of the script, of -m or of -c.
std::size_t end_of_options(const std::vector<std::string>& command) {
  std::size_t at = 1;
  while (at < command.size() && command[at].starts_with('-') && command[at] != "-" &&
         command[at] != "-m" && command[at] != "-c")
    at += takes_argument(command[at]) ? 2 : 1;
  return std::min(at, command.size());
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
  const std::size_t at = end_of_options(command);
  if (at == command.size() || command[at] == "-c" || command[at] == "-") return command;
  const bool module = command[at] == "-m";
  if (module && (at + 1 == command.size() || starts_processes(command[at + 1]))) return command;
  const auto place = command.begin() + static_cast<std::ptrdiff_t>(at);
  if (module) *place = "--module";
  const std::array<std::string, 2> launcher = {"-m", "torch.distributed.run"};
  command.insert(place, launcher.begin(), launcher.end());
  return command;
}

bool is_launcher(std::span<const std::string_view> command) {
  static constexpr std::array kPrograms = {"torchrun", "deepspeed", "accelerate",
                                           "accelerate-launch"};
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string_view name = file_name(command[i]);
    // "bash torchrun" and "python /usr/bin/torchrun" are how a script with #! is shown.
    if (i < 2 && std::ranges::any_of(kPrograms, [&](std::string_view one) { return one == name; }))
      return true;
    if (command[i] == "-m" && i + 1 < command.size() && starts_processes(command[i + 1]))
      return true;
  }
  return false;
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
