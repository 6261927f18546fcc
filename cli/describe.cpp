#include <CLI/CLI.hpp>
#include <memory>

#include "cli/job_follow.hpp"
#include "cli/job_view.hpp"
#include "cli/object_text.hpp"
#include "cli/verbs.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::cli {
namespace {

struct DescribeVerb {
  AccessOptions access = {};
  std::vector<std::string> names = {};
  std::string output = {};
  bool watch = false;
};

Task<Result<void>> print_object(Program& program, Access access, std::string name,
                                const std::string& format) {
  const kube::DynamicApi api(access.client, kTrainingJobs);
  const auto object = co_await api.get({.ns = access.ns, .name = name});
  if (!object && object.error().code == Errc::kNotFound)
    co_return std::unexpected<Error>(co_await job_not_found(access, name));
  if (!object) co_return std::unexpected<Error>(object.error());
  program.terminal.out((format == "yaml" ? "---\n" : "") + object_text(*object, format));
  co_return Result<void>{};
}

Task<Result<int>> describe_all(Program& program, Access access, const DescribeVerb& verb) {
  if (verb.watch) {
    // Whoever looks on wants to see the end, whatever it is.
    CO_TRY(co_await with_live_job(program, access, job_name(verb.names.front()),
                                  JobParts::kWithGang,
                                  [&](LiveJob& live) { return follow_job(program, live); }));
    co_return kDone;
  }
  bool first = true;
  for (const std::string& word : verb.names) {
    if (!verb.output.empty()) {
      CO_TRY(co_await print_object(program, access, job_name(word), verb.output));
      continue;
    }
    CO_TRY(const JobSeen seen, co_await look_at_job(program, access, job_name(word)));
    program.terminal.out((first ? "" : "\n") + describe_text(seen));
    first = false;
  }
  co_return kDone;
}

Result<int> describe(Program& program, const DescribeVerb& verb) {
  if (verb.watch && (verb.names.size() > 1 || !verb.output.empty()))
    return fail(Errc::kInvalid, "--watch takes one name, and no --output");
  TRY(const auto config, find_cluster(program, verb.access));
  return with_cluster(program, config, [&](Access access) {
    return describe_all(program, std::move(access), verb);
  });
}

}  // namespace

void add_describe(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "describe", "Show all that is known of training jobs: phase, why, progress, pods, events.");
  const auto options = std::make_shared<DescribeVerb>();
  verb->add_option("name", options->names, "names of TrainingJobs")->type_name("NAME")->required();
  verb->add_flag("-w,--watch", options->watch,
                 "show it until it ends: redrawn on a terminal, else lines of what changed");
  verb->add_option("-o,--output", options->output, "json or yaml: the object as it is stored")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"json", "yaml"}).description(""));
  add_access_options(*verb, options->access);
  verb->footer(access_help() +
               "\nExamples:\n  amdahl describe llama-ft\n  amdahl describe llama-ft -w\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return describe(program, *options); };
  });
}

}  // namespace amdahl::cli
