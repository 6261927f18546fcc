#include <CLI/CLI.hpp>
#include <memory>

#include "cli/local_options.hpp"
#include "cli/verbs.hpp"
#include "local/cluster/kubeconfig_file.hpp"
#include "local/cluster/server_process.hpp"

namespace amdahl::cli {
namespace {

constexpr std::chrono::seconds kGrace{20};

struct ResetOptions {
  std::string data = {};
  bool yes = false;
};

Result<void> check_files(const local::DataFolder& folder) {
  TRY(const auto foreign, folder.foreign_files());
  if (foreign.empty()) return {};
  return fail(Errc::kInvalid,
              "{} has files that no cluster made ({}); nothing was deleted, move them away first",
              folder.path(), fmt::join(foreign, ", "));
}

Result<void> forget_contexts(Program& program, const local::DataFolder& folder) {
  const auto settings = local::read_settings(folder);
  if (!settings) return {};  // damaged: what it said is lost, and reset is the way out
  for (const std::string& path : settings->merged_into)
    if (const auto removed = local::remove_from_file(path); !removed)
      program.terminal.err(fmt::format("amdahl: context {} stays in {}: {}\n", local::kContextName,
                                       path, removed.error().context));
  return {};
}

Result<int> reset(Program& program, const ResetOptions& options) {
  TRY(const auto folder, local::DataFolder::choose(options.data, program.environment));
  if (!folder.exists()) {
    program.terminal.out(fmt::format("There is no cluster in {}.\n", folder.path()));
    return kDone;
  }
  TRY(check_files(folder));
  const std::string question =
      fmt::format("Delete the cluster in {} with all its objects?", folder.path());
  if (!options.yes && !program.terminal.confirm(question))
    return fail(Errc::kInvalid, "nothing was deleted; give --yes to delete without a question");
  TRY(const auto running, local::find_server(folder));
  if (running) TRY(local::end_server(folder, running->pid, kGrace));
  TRY(forget_contexts(program, folder));
  TRY(folder.remove_all());
  program.terminal.out(fmt::format("The cluster in {} is gone.\n", folder.path()));
  return kDone;
}

}  // namespace

void add_local_reset(CLI::App& local, Program& program, Action& action) {
  CLI::App* verb =
      local.add_subcommand("reset", "Stop the cluster and delete everything it has stored.");
  const auto options = std::make_shared<ResetOptions>();
  add_data_option(*verb, options->data);
  verb->add_flag("-y,--yes", options->yes, "do not ask");
  verb->footer(
      "Deletes the files the cluster made, and its context in kubeconfigs that 'up --kubeconfig'\n"
      "changed. A folder with other files in it is refused.\n"
      "\nExample:\n  amdahl local reset --yes\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return reset(program, *options); };
  });
}

}  // namespace amdahl::cli
