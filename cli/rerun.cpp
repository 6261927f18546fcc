#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json_decode.hpp"
#include "base/rng.hpp"
#include "cli/job_create.hpp"
#include "cli/job_wait.hpp"
#include "cli/manifests.hpp"
#include "cli/object_text.hpp"
#include "cli/rerun_manifest.hpp"
#include "cli/resource_names.hpp"
#include "cli/text_layout.hpp"
#include "cli/verbs.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::cli {
namespace {

constexpr std::chrono::milliseconds kLookAgain{200};
constexpr std::chrono::minutes kGoneMax{5};
constexpr std::size_t kSuffixLength = 8;

struct RerunVerb {
  AccessOptions access = {};
  std::string job = {};
  std::string file = {};
  RerunOptions rerun = {};
  std::optional<std::chrono::nanoseconds> timeout = kGoneMax;
};

// The job that is meant; a file that `amdahl apply` takes may have other objects beside it.
Result<Json> job_in(const Program& program, const RerunVerb& verb, const std::string& ns) {
  TRY(auto manifests, read_manifests(program, {verb.file}));
  const auto meant = [&](const Manifest& one) {
    return one.kind == kTrainingJobs.kind && one.group == kTrainingJobs.group &&
           one.key.name == job_name(verb.job) && (one.key.ns.empty() || one.key.ns == ns);
  };
  const auto found = std::ranges::find_if(manifests, meant);
  if (found == manifests.end() || std::ranges::count_if(manifests, meant) != 1)
    return fail(Errc::kInvalid, "{}: expected TrainingJob {} of namespace {} in it, once",
                verb.file, job_name(verb.job), ns);
  return found->object;
}

class Rerunner {
 public:
  Rerunner(Program& program, Access access, const RerunVerb& verb)
      : program_(program),
        access_(std::move(access)),
        verb_(verb),
        api_(access_.client, kTrainingJobs) {}

  Task<Result<int>> run() {
    key_ = {.ns = access_.ns, .name = job_name(verb_.job)};
    auto stored = co_await api_.get(key_);
    if (!stored && stored.error().code == Errc::kNotFound)
      co_return std::unexpected<Error>(co_await job_not_found(access_, key_.name));
    if (!stored) co_return std::unexpected<Error>(stored.error());
    CO_TRY(const auto before, decode<TrainingJob>(kube::api_detail::text_of(*stored)));
    CO_TRY(check(before));
    Json wanted = *std::move(stored);
    if (!verb_.file.empty()) {
      CO_TRY(wanted, job_in(program_, verb_, key_.ns));
    }
    RerunOptions options = verb_.rerun;
    options.suffix = Rng(program_.seed).suffix(kSuffixLength);
    CO_TRY(RerunManifest made, rerun_manifest(before, std::move(wanted), options));
    CO_TRY(co_await rehearse(made.object));
    if (verb_.rerun.name.empty()) CO_TRY(co_await remove(before.metadata.uid));
    auto job = co_await create_job(access_.client, made.object);
    if (!job) co_return lost(made.object, job.error());
    tell(made);
    co_return kDone;
  }

 private:
  Result<void> check(const TrainingJob& job) const {
    const api::Phase phase = phase_of(job).phase;
    if (const auto* owner = kube::controller_of(job.metadata.owners))
      return fail(Errc::kInvalid,
                  "TrainingJob {} belongs to {} {}, which decides what runs; run it again there",
                  to_string(key_), owner->kind.str(), owner->name.str());
    if (!verb_.rerun.name.empty() || is_finished(phase)) return {};
    return fail(Errc::kInvalid,
                "TrainingJob {} has not ended ({}); end it with '{} cancel {} -n {} --wait', or "
                "give the second run another name with --name",
                to_string(key_), enum_name(phase), program_.called, key_.name, key_.ns);
  }

  // Before anything is deleted: what the server would refuse is refused now.
  Task<Result<void>> rehearse(Json manifest) {
    manifest["metadata"].erase("name");
    manifest["metadata"]["generateName"] = "rerun-";
    const auto tried = co_await try_job(access_.client, std::move(manifest));
    if (!tried)
      co_return fail(tried.error().code,
                     "TrainingJob {} cannot run again; it was left as it is: {}", to_string(key_),
                     tried.error().context);
    co_return Result<void>{};
  }

  // With its pods: those of the new run have the same names.
  Task<Result<void>> remove(std::string uid) {
    const auto asked = co_await api_.remove(key_, {.uid = uid, .propagation = "Foreground"});
    if (!asked && asked.error().code != Errc::kNotFound) co_return asked;
    const Monotonic deadline = deadline_in(program_, verb_.timeout);
    for (;;) {
      const auto seen = co_await kube::Api<TrainingJob>(access_.client).get(key_);
      if (!seen && seen.error().code == Errc::kNotFound) co_return Result<void>{};
      if (!seen) co_return std::unexpected<Error>(seen.error());
      if (seen->metadata.uid != uid) co_return Result<void>{};
      if (program_.clock.monotonic() >= deadline)
        co_return fail(Errc::kTimeout,
                       "TrainingJob {} is being deleted and is not gone yet; see that the operator "
                       "runs, then submit the job again",
                       to_string(key_));
      if (!co_await program_.clock.sleep_for(kLookAgain))
        co_return fail(Errc::kCancelled, "stopped while TrainingJob {} is deleted",
                       to_string(key_));
    }
  }

  // The old job may be gone: its spec must not go with it.
  Result<int> lost(const Json& manifest, const Error& error) {
    if (!verb_.rerun.name.empty()) return std::unexpected<Error>(error);
    program_.terminal.out("---\n" + object_text(manifest, "yaml"));
    return fail(error.code,
                "{}; TrainingJob {} was deleted and not created again: submit the object that is "
                "on standard output",
                error.context, to_string(key_));
  }

  void tell(const RerunManifest& made) {
    const std::string& name = verb_.rerun.name.empty() ? key_.name : verb_.rerun.name;
    std::string text = fmt::format(
        "{}/{} created, to run again {}\n", kind_word(kTrainingJobs), name,
        verb_.rerun.from_checkpoint ? "from the newest checkpoint" : "from the beginning");
    if (!made.checkpoints.empty())
      text += fmt::format(
          "Its checkpoints go to {} (spec.checkpoint.uri); those of the run before stay in {}\n",
          one_line(made.checkpoints), one_line(made.checkpoints_before));
    program_.terminal.out(
        text + fmt::format("Next: {} describe {} -n {} -w\n", program_.called, name, key_.ns));
  }

  Program& program_;
  Access access_;
  const RerunVerb& verb_;
  kube::DynamicApi api_;
  kube::ObjectKey key_;
};

Task<Result<int>> rerun_one(Program& program, Access access, const RerunVerb& verb) {
  Rerunner rerunner(program, std::move(access), verb);
  co_return co_await rerunner.run();
}

Result<int> rerun(Program& program, const RerunVerb& verb) {
  TRY(const auto config, find_cluster(program, verb.access));
  return with_cluster(program, config,
                      [&](Access access) { return rerun_one(program, std::move(access), verb); });
}

}  // namespace

void add_rerun(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb = app.add_subcommand("rerun", "Run a training job that has ended once more.");
  const auto options = std::make_shared<RerunVerb>();
  verb->add_option("job", options->job, "name of a TrainingJob")->type_name("JOB")->required();
  verb->add_option("-f,--filename", options->file,
                   "run what this file says instead of the stored spec; - is standard input")
      ->type_name("FILE");
  verb->add_option("--name", options->rerun.name,
                   "create a second job with this name and keep the first one")
      ->type_name("NEW");
  verb->add_flag("--from-checkpoint", options->rerun.from_checkpoint,
                 "start from the newest checkpoint of the run before (spec.checkpoint.initFrom)");
  add_timeout_option(*verb, options->timeout,
                     "how long to wait until the old job is gone, such as 90s (default 5m)");
  add_access_options(*verb, options->access);
  verb->footer(
      "Deletes the job, waits until it and its pods are gone, and creates it with the same spec,\n"
      "labels and annotations; spec.cancel and spec.suspend are left out. The server checks the\n"
      "new job before the old one is deleted. Without --from-checkpoint the run starts from the\n"
      "beginning. Checkpoints are never deleted: after a run, the new job gets a new folder below\n"
      "its spec.checkpoint.uri, because a folder belongs to one run. Other objects in FILE are\n"
      "left alone.\n" +
      access_help() +
      "\nExamples:\n  amdahl rerun llama-ft\n  amdahl rerun llama-ft -f fixed.yaml\n"
      "  amdahl rerun llama-ft --name llama-ft-2 --from-checkpoint\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return rerun(program, *options); };
  });
}

}  // namespace amdahl::cli
