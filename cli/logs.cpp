#include <CLI/CLI.hpp>
#include <memory>

#include "cli/number_option.hpp"
#include "cli/rank_logs.hpp"
#include "cli/training_jobs.hpp"
#include "cli/verbs.hpp"

namespace amdahl::cli {
namespace {

struct LogsVerb {
  AccessOptions access = {};
  std::string what = {};
  RankLogOptions ranks = {};
};

std::string pod_name(std::string_view word) {
  for (const std::string_view prefix : {"pod/", "pods/", "po/"})
    if (word.starts_with(prefix)) return std::string(word.substr(prefix.size()));
  return std::string(word);
}

// A pod of that name wins; flags that only a TrainingJob has leave no question.
Task<Result<int>> show_logs(Program& program, Access access, const LogsVerb& verb) {
  RankLogOptions ranks = verb.ranks;
  ranks.job = job_name(verb.what);
  if (explicit_job(verb.what) || ranks.rank || ranks.attempt || ranks.all_ranks)
    co_return co_await show_rank_logs(program, access, std::move(ranks));
  auto copied = co_await copy_log(program, access, pod_name(verb.what), ranks.log);
  const bool no_pod = !copied && copied.error().code == Errc::kNotFound;
  if (!no_pod || verb.what.contains('/')) co_return copied;
  const auto job = co_await find_job(access, ranks.job);
  if (job) co_return co_await show_rank_logs(program, access, std::move(ranks));
  if (job.error().code != Errc::kNotFound) co_return std::unexpected<Error>(job.error());
  co_return fail(Errc::kNotFound, "{}; {}", copied.error().context, job.error().context);
}

Result<int> logs(Program& program, const LogsVerb& verb) {
  if (verb.ranks.rank && verb.ranks.all_ranks)
    return fail(Errc::kInvalid, "give --rank or --all-ranks, one of them");
  TRY(const auto config, find_cluster(program, verb.access));
  return with_cluster(program, config,
                      [&](Access access) { return show_logs(program, std::move(access), verb); });
}

}  // namespace

void add_logs(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "logs", "Show what a rank of a training job, or any container, has written.");
  const auto options = std::make_shared<LogsVerb>();
  kube::LogOptions& log = options->ranks.log;
  verb->add_option("name", options->what, "name of a TrainingJob or of a pod")
      ->type_name("JOB|POD")
      ->required();
  take_from(
      0, *verb->add_option("-r,--rank", options->ranks.rank, "which node of the gang (default 0)")
              ->type_name("R"));
  take_from(1, *verb->add_option("--attempt", options->ranks.attempt,
                                 "which attempt (default: the newest)")
                    ->type_name("N"));
  verb->add_flag("--all-ranks", options->ranks.all_ranks, "of all ranks, [rank] before each line");
  verb->add_option("-c,--container", log.container, "which of the pod's containers")
      ->type_name("NAME");
  verb->add_flag("-f,--follow", log.follow, "go on until the container ends");
  verb->add_flag("-p,--previous", log.previous, "of the container that ran before");
  verb->add_flag("--timestamps", log.timestamps, "begin each line with its time");
  take_from(0, *verb->add_option("--tail", log.tail_lines, "only the last lines")->type_name("N"));
  take_from(
      1, *verb->add_option("--since", log.since_seconds, "only the last seconds")->type_name("S"));
  verb->add_option("--from", options->ranks.from,
                   "where the job's checkpoints are, if not at spec.checkpoint.uri")
      ->type_name("ADDRESS");
  add_access_options(*verb, options->access);
  verb->footer(
      "A pod of that name wins; tj/NAME or job/NAME is the TrainingJob, pod/NAME the pod. Of a\n"
      "TrainingJob the trainer container is shown. --follow waits for a rank that has not "
      "started,\n"
      "and ends with its attempt. When a pod is gone, the last 64 KiB of its log are read from "
      "the\n"
      "folder .amdahl-logs beside the job's checkpoints, which has the last three attempts of "
      "every\n"
      "rank; --from is the address of the checkpoints for this machine, as "
      "/mnt/volume/llama-ft.\n" +
      access_help() +
      "\nExamples:\n  amdahl logs llama-ft -f --tail 20\n  amdahl logs llama-ft --rank 3 --attempt "
      "1\n"
      "  amdahl logs tj/llama-ft --all-ranks\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return logs(program, *options); };
  });
}

}  // namespace amdahl::cli
