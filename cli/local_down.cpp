#include <CLI/CLI.hpp>
#include <memory>

#include "cli/local_options.hpp"
#include "cli/verbs.hpp"
#include "local/cluster/server_process.hpp"

namespace amdahl::cli {
namespace {

constexpr int kGraceSeconds = 20;

struct DownOptions {
  std::string data = {};
  int grace_seconds = kGraceSeconds;
};

Result<int> down(Program& program, const DownOptions& options) {
  TRY(const auto folder, local::DataFolder::choose(options.data, program.environment));
  TRY(const auto running, local::find_server(folder));
  if (!running) {
    program.terminal.out(fmt::format("No cluster runs in {}.\n", folder.path()));
    return kDone;
  }
  if (running->pid == 0)
    return fail(Errc::kForbidden, "the cluster in {} runs in another container; stop it from there",
                folder.path());
  TRY(const bool killed,
      local::end_server(folder, running->pid, std::chrono::seconds{options.grace_seconds}));
  program.terminal.out(fmt::format(
      "The cluster in {} has stopped (pid {}){}. Its objects are kept.\n", folder.path(),
      running->pid, killed ? fmt::format(", killed after {} s", options.grace_seconds) : ""));
  return kDone;
}

}  // namespace

void add_local_down(CLI::App& local, Program& program, Action& action) {
  CLI::App* verb = local.add_subcommand("down", "Stop the cluster; its objects are kept.");
  const auto options = std::make_shared<DownOptions>();
  add_data_option(*verb, options->data);
  verb->add_option("--grace", options->grace_seconds,
                   "seconds until the process is killed (default 20)")
      ->type_name("S")
      ->check(CLI::Range(0, 3600).description(""));
  verb->footer(
      "Pods end with the cluster. Contexts that 'up --kubeconfig' made stay: they work again "
      "after\n"
      "the next 'up'. When no cluster runs, nothing happens.\n"
      "\nExample:\n  amdahl local down\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return down(program, *options); };
  });
}

}  // namespace amdahl::cli
