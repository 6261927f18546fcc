#include <CLI/CLI.hpp>
#include <memory>

#include "cli/cluster_access.hpp"
#include "cli/get_objects.hpp"
#include "cli/verbs.hpp"

namespace amdahl::cli {
namespace {

struct GetVerb {
  AccessOptions access = {};
  GetOptions get = {};
};

Result<int> get(Program& program, const GetVerb& verb) {
  GetOptions options = verb.get;
  if (options.words.empty()) options.words = {std::string(kJobsWord)};
  options.bare_names = !options.words.front().contains('/') && !options.words.front().contains(',');
  TRY(const auto targets, parse_targets(options.words));
  TRY(const auto config, find_cluster(program, verb.access));
  return with_cluster(program, config, [&](Access access) {
    return get_objects(program, std::move(access), options, targets);
  });
}

}  // namespace

void add_get(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb =
      app.add_subcommand("get", "Show training jobs or other objects, as columns or whole.");
  const auto options = std::make_shared<GetVerb>();
  GetOptions& get_options = options->get;
  verb->add_option("what", get_options.words,
                   "NAME... of TrainingJobs, or TYPE, TYPE NAME..., TYPE,TYPE or TYPE/NAME...")
      ->type_name("");
  verb->add_flag("-A,--all-namespaces", get_options.all_namespaces, "of all namespaces");
  verb->add_option("-l,--selector", get_options.labels, "only objects with these labels")
      ->type_name("SELECTOR");
  verb->add_option("--field-selector", get_options.fields, "only objects with these fields")
      ->type_name("SELECTOR");
  verb->add_option("-o,--output", get_options.output, "wide, json, yaml or name")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"wide", "json", "yaml", "name"}).description(""));
  verb->add_flag("-w,--watch", get_options.watch, "then show what changes, until Ctrl-C");
  verb->add_flag("--no-headers", get_options.no_headers, "rows only");
  add_access_options(*verb, options->access);
  verb->footer(
      "Without a word: the TrainingJobs of the namespace.\n"
      "A type is a resource, a short name or a kind, with its group if need be:\n"
      "pods, po, Pod, deployments.apps.\n" +
      access_help() +
      "\nExamples:\n  amdahl get pods -A -o wide\n  amdahl get pod llama-0 -o yaml\n"
      "  amdahl get llama-ft -n research -w\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return get(program, *options); };
  });
}

}  // namespace amdahl::cli
