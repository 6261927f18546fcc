#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/local_options.hpp"
#include "cli/local_server.hpp"
#include "cli/text_layout.hpp"
#include "cli/verbs.hpp"
#include "local/cluster/kubeconfig_file.hpp"
#include "local/cluster/server_process.hpp"
#include "operator/kube/environment.hpp"

namespace amdahl::cli {
namespace {

constexpr std::size_t kLogLines = 10;
constexpr std::size_t kWordsOfData = 2;  // --data DIR
constexpr std::size_t kSmallFileMax = std::size_t{64} << 10;

struct UpOptions {
  LocalOptions local = {};
  std::string kubeconfig = {};
  bool foreground = false;
  bool verbose = false;
};

// Steps of a start: one line that changes on a terminal, a line each elsewhere.
class StepLines {
 public:
  StepLines(Program& program, bool verbose)
      : program_(program), verbose_(verbose), start_(program.clock.monotonic()) {}

  void step(std::string_view text) {
    if (program_.terminal.live && !verbose_)
      program_.terminal.bytes(fmt::format("\r\x1b[K{} ...", plain_text(text)));
    else
      program_.terminal.out(fmt::format("{}{}\n", stamp(), text));
  }
  void end() {
    if (program_.terminal.live && !verbose_) program_.terminal.bytes("\r\x1b[K");
  }
  std::chrono::milliseconds took() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(program_.clock.monotonic() -
                                                                 start_);
  }

 private:
  std::string stamp() const {
    return verbose_ ? fmt::format("{:5} ms  ", took().count()) : std::string();
  }

  Program& program_;
  bool verbose_;
  Monotonic start_;
};

Result<local::ClusterAddress> address_in(const local::DataFolder& folder, std::int32_t port) {
  local::ClusterAddress address{.url = local::server_url(port)};
  TRY(address.authority_pem, kube::read_file(folder.file("ca.crt"), kSmallFileMax));
  TRY(address.token, kube::read_file(folder.file("admin.token"), kSmallFileMax));
  return address;
}

// Also remembers where, for `local reset`.
Result<void> merge(const local::DataFolder& folder, const std::string& path) {
  TRY(auto settings, local::read_settings(folder));
  TRY(const auto address, address_in(folder, settings.port));
  TRY(const std::string real, local::merge_into_file(path, address));
  auto& known = settings.merged_into;
  if (std::ranges::find(known, real) != known.end()) return {};
  known.push_back(real);
  return local::write_settings(folder, settings);
}

std::string how_to_use(const local::DataFolder& folder, const UpOptions& options) {
  if (options.kubeconfig.empty())
    return fmt::format("\nTo use it:\n  export KUBECONFIG={}\n  kubectl get nodes\n",
                       shell_word(folder.file("kubeconfig")));
  return fmt::format("\nTo use it:\n  kubectl --kubeconfig {} --context {} get nodes\n",
                     shell_word(options.kubeconfig), local::kContextName);
}

Result<int> already_running(Program& program, const local::DataFolder& folder,
                            const UpOptions& options, const local::RunningServer& running) {
  if (!options.kubeconfig.empty() && running.status) TRY(merge(folder, options.kubeconfig));
  program.terminal.out(
      fmt::format("The cluster in {} is {}.\n{}{}", folder.path(), local::describe(running),
                  words_of(options.local).size() > kWordsOfData
                      ? "It stays as it is: to change sizes, port or root, 'amdahl local "
                        "down' first.\n"
                      : "",
                  how_to_use(folder, options)));
  return kDone;
}

Result<int> run_here(Program& program, const local::DataFolder& folder, const UpOptions& options) {
  StepLines lines(program, options.verbose);
  Result<void> merged;
  const ServerEvents events{
      .progress = [&lines](std::string_view step) { lines.step(step); },
      .ready =
          [&](const local::LocalCluster& cluster) {
            lines.end();
            if (!options.kubeconfig.empty()) merged = merge(folder, options.kubeconfig);
            if (!merged) program.terminal.err("amdahl: " + merged.error().context + "\n");
            program.terminal.out(
                fmt::format("Cluster is ready at {} after {} ms; Ctrl-C ends it.\n{}",
                            local::server_url(cluster.port()), lines.took().count(),
                            how_to_use(folder, options)));
          }};
  TRY(run_local_server(program, options.local, events));
  program.terminal.out("The cluster has stopped.\n");
  return merged ? kDone : kFailed;
}

std::string with_log(const local::DataFolder& folder, const Error& error) {
  const std::string tail = local::log_tail(folder, kLogLines);
  if (tail.empty()) return error.context;
  return fmt::format("{}\nThe end of {}:\n{}", error.context, folder.file("log"),
                     tail.substr(0, tail.find_last_not_of('\n') + 1));
}

Result<int> start_in_background(Program& program, const local::DataFolder& folder,
                                const UpOptions& options) {
  StepLines lines(program, options.verbose);
  LocalOptions passed = options.local;
  passed.data = folder.path();
  local::ServerStart start{.arguments = {"amdahl", "local", "serve"}};
  for (std::string& word : words_of(passed)) start.arguments.push_back(std::move(word));
  for (const auto& [name, value] : program.environment.variables)
    start.environment.push_back(name + "=" + value);
  start.progress = [&lines](std::string_view step) { lines.step(step); };
  const auto pid = local::start_server(folder, start, program.clock);
  lines.end();
  if (!pid) {
    // Another `up` may have been faster.
    TRY(const auto running, local::find_server(folder));
    if (running) return already_running(program, folder, options, *running);
    return fail(pid.error().code, "the cluster did not start: {}", with_log(folder, pid.error()));
  }
  if (!options.kubeconfig.empty()) TRY(merge(folder, options.kubeconfig));
  TRY(const auto status, local::read_server_status(folder));
  program.terminal.out(fmt::format("Cluster is ready at {} after {} ms (pid {}).\n{}",
                                   local::server_url(status.port), lines.took().count(), *pid,
                                   how_to_use(folder, options)));
  return kDone;
}

Result<int> up(Program& program, const UpOptions& options) {
  TRY(const auto folder, local::DataFolder::choose(options.local.data, program.environment));
  TRY(const auto running, local::find_server(folder));
  if (running) return already_running(program, folder, options, *running);
  // Before anything is made.
  TRY(nodes_of(options.local, {}));
  TRY(host_path_root_of(options.local, {}));
  TRY(folder.make());
  return options.foreground ? run_here(program, folder, options)
                            : start_in_background(program, folder, options);
}

}  // namespace

void add_local_up(CLI::App& local, Program& program, Action& action) {
  CLI::App* verb = local.add_subcommand("up", "Start the cluster, and wait until it is ready.");
  const auto options = std::make_shared<UpOptions>();
  add_local_options(*verb, options->local);
  verb->add_option("--kubeconfig", options->kubeconfig,
                   "also put a context amdahl-local into this file; the rest of it stays")
      ->type_name("PATH");
  verb->add_flag("--foreground", options->foreground,
                 "run here until Ctrl-C, log on standard error");
  verb->add_flag("-v,--verbose", options->verbose, "show when each step was done");
  verb->footer(
      "The cluster runs in the background until 'amdahl local down'. A second 'up' says that it\n"
      "runs already. Port, certificates, token, sizes, the root of host paths and objects are "
      "kept\n"
      "for the next 'up'.\n"
      "\nExamples:\n"
      "  amdahl local up\n"
      "  amdahl local up --nodes 4 --gpus 8 --cpu 96 --memory 1Ti\n"
      "  amdahl local up --kubeconfig ~/.kube/config && kubectl --context amdahl-local get nodes\n"
      "  amdahl local up --data /tmp/one --in-memory --foreground\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return up(program, *options); };
  });
}

}  // namespace amdahl::cli
