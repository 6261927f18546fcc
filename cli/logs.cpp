#include <CLI/CLI.hpp>
#include <memory>

#include "cli/cluster_access.hpp"
#include "cli/verbs.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::cli {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{32} << 10;

struct LogsVerb {
  AccessOptions access = {};
  std::string pod = {};
  kube::LogOptions log = {};
};

Task<Result<int>> copy_log(Program& program, Access access, const LogsVerb& verb) {
  std::string pod = verb.pod;
  for (const std::string_view prefix : {"pod/", "pods/", "po/"})
    if (pod.starts_with(prefix)) pod.erase(0, prefix.size());
  CO_TRY(auto stream,
         co_await kube::open_logs(access.client, {.ns = access.ns, .name = pod}, verb.log));
  std::vector<char> chunk(kChunkBytes);
  for (;;) {
    // A container that is silent is no error: only --follow can wait for long, and Ctrl-C ends it.
    const Monotonic deadline = verb.log.follow
                                   ? Monotonic::max()
                                   : program.clock.monotonic() + access.client.options().deadline;
    CO_TRY(const std::size_t count, co_await stream.body->read(chunk, deadline));
    if (count == 0) co_return kDone;
    program.terminal.out({chunk.data(), count});
  }
}

Result<int> logs(Program& program, const LogsVerb& verb) {
  TRY(const auto config, find_cluster(program, verb.access));
  return with_cluster(program, config,
                      [&](Access access) { return copy_log(program, std::move(access), verb); });
}

}  // namespace

void add_logs(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb = app.add_subcommand("logs", "Show what a container has written.");
  const auto options = std::make_shared<LogsVerb>();
  verb->add_option("pod", options->pod, "name of the pod")->type_name("POD")->required();
  verb->add_option("-c,--container", options->log.container, "which of the pod's containers")
      ->type_name("NAME");
  verb->add_flag("-f,--follow", options->log.follow, "go on until the container ends");
  verb->add_flag("-p,--previous", options->log.previous, "of the container that ran before");
  verb->add_flag("--timestamps", options->log.timestamps, "begin each line with its time");
  verb->add_option("--tail", options->log.tail_lines, "only the last lines")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""));
  verb->add_option("--since", options->log.since_seconds, "only the last seconds")
      ->type_name("S")
      ->check(CLI::PositiveNumber.description(""));
  add_access_options(*verb, options->access);
  verb->footer(access_help() + "\nExample:\n  amdahl logs llama-0 -f --tail 20\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return logs(program, *options); };
  });
}

}  // namespace amdahl::cli
