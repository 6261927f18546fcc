#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json_encode.hpp"
#include "cli/job_account.hpp"
#include "cli/object_text.hpp"
#include "cli/verbs.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::cli {
namespace {

struct TopVerb {
  AccessOptions access = {};
  bool all_namespaces = false;
  std::string labels = {};
  std::string output = {};
};

Task<Result<int>> show_top(Program& program, Access access, const TopVerb& verb) {
  const auto jobs =
      co_await kube::Api<TrainingJob>(access.client)
          .list_all({.ns = verb.all_namespaces ? "" : access.ns, .labels = verb.labels});
  if (!jobs && jobs.error().code == Errc::kNotFound)
    co_return std::unexpected<Error>(co_await job_not_found(access, ""));
  if (!jobs) co_return std::unexpected<Error>(jobs.error());
  const std::vector<TopRow> rows = top_rows(jobs->items, program.clock.wall());
  if (!verb.output.empty())
    program.terminal.out(object_text({{"jobs", encode(rows)}}, verb.output));
  else if (rows.empty())
    program.terminal.err("No training job holds GPUs or runs.\n");
  else
    program.terminal.out(top_text(rows, verb.all_namespaces));
  co_return kDone;
}

Result<int> top(Program& program, const TopVerb& verb) {
  TRY(const auto config, find_cluster(program, verb.access));
  return with_cluster(program, config,
                      [&](Access access) { return show_top(program, std::move(access), verb); });
}

}  // namespace

void add_top(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb =
      app.add_subcommand("top", "Show which training jobs hold GPUs, and what they make of them.");
  const auto options = std::make_shared<TopVerb>();
  verb->add_flag("-A,--all-namespaces", options->all_namespaces, "of all namespaces");
  verb->add_option("-l,--selector", options->labels, "only jobs with these labels")
      ->type_name("SELECTOR");
  verb->add_option("-o,--output", options->output, "json or yaml")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"json", "yaml"}).description(""));
  add_access_options(*verb, options->access);
  verb->footer(
      "Sorted by the GPU-seconds that were wasted. USEFUL is the share that made steps which were\n"
      "kept, WASTED the share that went into other phases, and MOSTLY the largest of these.\n"
      "Unattributed time is in neither share. All attempts of a job count.\n" +
      access_help() + "\nExample:\n  amdahl top -A\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return top(program, *options); };
  });
}

}  // namespace amdahl::cli
