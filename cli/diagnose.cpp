#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json_encode.hpp"
#include "cli/job_explain.hpp"
#include "cli/live_job.hpp"
#include "cli/object_text.hpp"
#include "cli/verbs.hpp"

namespace amdahl::cli {
namespace {

struct DiagnoseVerb {
  AccessOptions access = {};
  std::vector<std::string> names = {};
  std::string output = {};
};

Task<Result<int>> diagnose_all(Program& program, Access access, const DiagnoseVerb& verb) {
  bool first = true;
  for (const std::string& word : verb.names) {
    CO_TRY(const JobSeen seen, co_await look_at_job(program, access, job_name(word)));
    const Explanation told = explain(seen);
    const std::string between = first ? "" : verb.output == "yaml" ? "---\n" : "\n";
    program.terminal.out(between + (verb.output.empty() ? explanation_text(told)
                                                        : object_text(encode(told), verb.output)));
    first = false;
  }
  co_return kDone;
}

Result<int> diagnose(Program& program, const DiagnoseVerb& verb) {
  TRY(const auto config, find_cluster(program, verb.access));
  return with_cluster(program, config, [&](Access access) {
    return diagnose_all(program, std::move(access), verb);
  });
}

}  // namespace

void add_diagnose(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "diagnose", "Say why training jobs failed or wait, on what evidence, and what to do.");
  const auto options = std::make_shared<DiagnoseVerb>();
  verb->add_option("name", options->names, "names of TrainingJobs")->type_name("NAME")->required();
  verb->add_option("-o,--output", options->output, "json or yaml")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"json", "yaml"}).description(""));
  add_access_options(*verb, options->access);
  verb->footer(
      "Tells what the operator has found and recorded in the job's status; it runs no tests of "
      "its\n"
      "own. The exit code is 0 whatever the finding.\n" +
      access_help() + "\nExample:\n  amdahl diagnose llama-ft\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return diagnose(program, *options); };
  });
}

}  // namespace amdahl::cli
