#include <CLI/CLI.hpp>

#include "cli/verbs.hpp"

namespace amdahl::cli {

void add_version(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb = app.add_subcommand("version", "Show the version of this program.");
  verb->footer("");
  verb->callback([&program, &action] {
    action = [&program]() -> Result<int> {
      program.terminal.out("amdahl " AMDAHL_VERSION "\n");
      return kDone;
    };
  });
}

}  // namespace amdahl::cli
