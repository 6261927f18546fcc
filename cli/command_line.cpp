#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <sstream>

#include "cli/verbs.hpp"

namespace amdahl::cli {
namespace {

constexpr std::string_view kFooter =
    "Examples:\n"
    "  amdahl local up                     a cluster on this machine, for your user only\n"
    "  amdahl get pods -A                  what runs in it\n"
    "  amdahl apply -f job.yaml            create or change objects\n"
    "\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 not running (local status).\n";

// "amdahl local up" of the innermost verb that was named.
std::string full_name(const CLI::App& app) {
  const CLI::App* at = &app;
  std::string name = at->get_name();
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return name;
}

int refuse(Program& program, const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream ignored;
  if (error.get_exit_code() == 0) {  // --help is an exception of CLI11 too
    app.exit(error, out, ignored);
    program.terminal.out(out.str());
    return kDone;
  }
  program.terminal.err(std::string("amdahl: ") + error.what() + "\nSee '" + full_name(app) +
                       " --help'.\n");
  return kWrongUsage;
}

int finish(Program& program, const Result<int>& result) {
  if (result) return *result;
  program.terminal.err("amdahl: " + result.error().context + "\n");
  return kFailed;
}

}  // namespace

int run(Program& program, std::span<const char* const> words) {
  Action action;
  CLI::App app("Amdahl: training jobs on Kubernetes, and a cluster on this machine to try them.",
               "amdahl");
  app.require_subcommand(1);
  app.footer(std::string(kFooter));
  app.set_help_flag("-h,--help", "show this text");
  app.get_formatter()->column_width(34);
  add_local(app, program, action);
  add_apply(app, program, action);
  add_get(app, program, action);
  add_delete(app, program, action);
  add_logs(app, program, action);
  add_completion(app, program, action);
  add_version(app, program, action);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    return refuse(program, app, error);
  }
  return finish(program, action());
}

}  // namespace amdahl::cli
