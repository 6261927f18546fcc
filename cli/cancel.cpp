#include <CLI/CLI.hpp>
#include <memory>

#include "cli/job_change.hpp"
#include "cli/verbs.hpp"

namespace amdahl::cli {
namespace {

struct CancelVerb {
  ChangeOptions change = {};
  bool yes = false;
};

Result<int> cancel(Program& program, const CancelVerb& verb) {
  const std::string question =
      fmt::format("Cancel {}? It cannot be taken back.", fmt::join(verb.change.names, ", "));
  // A script means what it says; a person may have mistyped.
  if (!verb.yes && program.environment.terminal && !program.terminal.confirm(question))
    return fail(Errc::kInvalid, "nothing was cancelled; give --yes to cancel without a question");
  return change_jobs(program, verb.change, Wish::kCancel);
}

}  // namespace

void add_cancel(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb = app.add_subcommand("cancel", "End training jobs for good; they are kept.");
  const auto options = std::make_shared<CancelVerb>();
  add_change_options(*verb, options->change);
  verb->add_flag("-y,--yes", options->yes,
                 "do not ask; nobody is asked where there is no terminal");
  verb->footer(
      "Sets spec.cancel, which cannot be taken back. Steps since the last checkpoint are lost;\n"
      "'pause' keeps them. A job that has ended already is no error.\n"
      "With --wait: exit code 0 it has ended, 4 time was up.\n" +
      access_help() + "\nExample:\n  amdahl cancel llama-ft --yes --wait\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return cancel(program, *options); };
  });
}

}  // namespace amdahl::cli
