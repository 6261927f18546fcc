#include <CLI/CLI.hpp>
#include <memory>

#include "cli/job_wait.hpp"
#include "cli/verbs.hpp"
#include "cli/wait_goal.hpp"

namespace amdahl::cli {
namespace {

struct WaitVerb {
  AccessOptions access = {};
  std::vector<std::string> names = {};
  Goal goal = {};
  std::optional<std::chrono::nanoseconds> timeout = {};
};

Task<Result<int>> wait_all(Program& program, Access access, const WaitVerb& verb) {
  const Monotonic deadline = deadline_in(program, verb.timeout);
  const auto verdict = [&verb](const TrainingJob& job) -> std::optional<WaitEnd> {
    GoalVerdict said = judge(verb.goal, job);
    if (said.state == GoalState::kOpen) return std::nullopt;
    return WaitEnd{.said = std::move(said.said),
                   .code = said.state == GoalState::kReached ? kDone : kFailed};
  };
  for (const std::string& word : verb.names) {
    CO_TRY(const int code, co_await wait_for_job(program, access, job_name(word), verdict,
                                                 {.what = verb.goal.text, .deadline = deadline}));
    if (code != kDone) co_return code;
  }
  co_return kDone;
}

Result<int> wait(Program& program, const WaitVerb& verb) {
  TRY(const auto config, find_cluster(program, verb.access));
  return with_cluster(program, config,
                      [&](Access access) { return wait_all(program, std::move(access), verb); });
}

}  // namespace

void add_wait(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb = app.add_subcommand("wait", "Wait until training jobs run, pause or end.");
  const auto options = std::make_shared<WaitVerb>();
  verb->add_option("name", options->names, "names of TrainingJobs")->type_name("NAME")->required();
  verb->add_option_function<std::string>(
          "--for",
          [options](const std::string& text) {
            auto goal = parse_goal(text);
            if (!goal) throw CLI::ValidationError("--for", goal.error().context);
            options->goal = *std::move(goal);
          },
          "Running, Paused, Succeeded, Failed, Cancelled, Finished, or CONDITION[=STATUS]")
      ->type_name("WHAT")
      ->required();
  add_timeout_option(*verb, options->timeout, "how long, such as 90s or 2h (default: no limit)");
  add_access_options(*verb, options->access);
  verb->footer(
      "Finished is any end. A condition is one of status.conditions, such as Admitted or\n"
      "CheckpointReady=True; condition=NAME=STATUS takes any name.\n"
      "Exit codes: 0 it is so (of all that were named), 1 it can no longer become so, for example\n"
      "it failed while Succeeded was waited for, or it was deleted; 4 time was up.\n" +
      access_help() +
      "\nExamples:\n  amdahl wait llama-ft --for=Succeeded --timeout 12h\n"
      "  amdahl wait llama-ft --for=CheckpointReady=True\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return wait(program, *options); };
  });
}

}  // namespace amdahl::cli
