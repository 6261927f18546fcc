#include <CLI/CLI.hpp>
#include <memory>

#include "cli/job_change.hpp"
#include "cli/verbs.hpp"

namespace amdahl::cli {

void add_resume(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "resume", "Let paused training jobs run again, from their newest checkpoint.");
  const auto options = std::make_shared<ChangeOptions>();
  add_change_options(*verb, *options);
  verb->footer(
      "Clears spec.suspend. A job that is not paused is no error; one that has ended is.\n"
      "With --wait: exit code 0 all ranks run, 1 they will not, 4 time was up.\n" +
      access_help() + "\nExample:\n  amdahl resume llama-ft --wait --timeout 30m\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return change_jobs(program, *options, Wish::kResume); };
  });
}

}  // namespace amdahl::cli
