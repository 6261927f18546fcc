#include <CLI/CLI.hpp>
#include <memory>

#include "cli/job_change.hpp"
#include "cli/verbs.hpp"

namespace amdahl::cli {

void add_pause(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "pause", "Pause training jobs: a checkpoint is committed, then their pods go.");
  const auto options = std::make_shared<ChangeOptions>();
  add_change_options(*verb, *options);
  verb->add_flag("--lose-steps", options->lose_steps,
                 "pause a job that has no checkpoint, too: its steps have to be done again");
  verb->footer(
      "Sets spec.suspend. What becomes of it is recorded in status.pause. With the policy "
      "Committed\n"
      "a job that cannot save in time is not paused and runs on. A job that has made steps, has "
      "no\n"
      "spec.checkpoint.uri and never told of a checkpoint is refused before anything is changed,\n"
      "unless its policy is BestEffort or --lose-steps is given.\n"
      "With --wait: exit code 0 paused, 1 not paused (refused, ended before, taken back),\n"
      "4 time was up. A job that is paused already is no error; one that has ended is.\n" +
      access_help() +
      "\nExamples:\n  amdahl pause llama-ft --wait\n"
      "  amdahl pause llama-ft mixtral --wait --timeout 5m\n"
      "  amdahl pause smoke-test --lose-steps\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return change_jobs(program, *options, Wish::kPause); };
  });
}

}  // namespace amdahl::cli
