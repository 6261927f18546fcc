#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
#include "cli/job_create.hpp"
#include "cli/job_follow.hpp"
#include "cli/manifests.hpp"
#include "cli/object_text.hpp"
#include "cli/resource_names.hpp"
#include "cli/verbs.hpp"
#include "operator/api/names.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::cli {
namespace {

struct SubmitVerb {
  AccessOptions access = {};
  std::vector<std::string> files = {};
  std::string output = {};
  bool dry_run = false;
  bool watch = false;
};

Result<void> check_kinds(const std::vector<Manifest>& manifests) {
  for (const Manifest& one : manifests)
    if (one.group != api::kGroup || one.kind != api::kTrainingJobKind)
      return fail(Errc::kInvalid,
                  "{}: {} {} is no TrainingJob, and nothing was submitted; 'amdahl apply -f' takes "
                  "objects of every kind",
                  one.place, one.kind, one.key.name);
  return {};
}

class Submitter {
 public:
  Submitter(Program& program, Access access, const SubmitVerb& verb)
      : program_(program), access_(std::move(access)), verb_(verb) {}

  Task<Result<int>> run(std::vector<Manifest> manifests) {
    std::vector<kube::ObjectKey> created;
    for (Manifest& manifest : manifests) {
      CO_TRY(const auto key, place_of(manifest, true, access_.ns, !verb_.access.ns.empty()));
      manifest.object["metadata"]["namespace"] = key.ns;
      CO_TRY(const Json job, co_await create(manifest, key));
      created.push_back(
          {.ns = key.ns, .name = std::string(text_of(member_of(job, "metadata"), "name"))});
      print(job, created.back());
    }
    if (!verb_.watch || verb_.dry_run) co_return kDone;
    const kube::ObjectKey& key = created.front();
    co_return co_await with_live_job(program_, {.client = access_.client, .ns = key.ns}, key.name,
                                     JobParts::kWithGang,
                                     [this](LiveJob& live) { return follow_job(program_, live); });
  }

 private:
  Task<Result<Json>> create(const Manifest& manifest, const kube::ObjectKey& key) {
    auto job = verb_.dry_run ? co_await dry_run(manifest) : co_await create_checked(manifest);
    if (job) co_return job;
    if (job.error().code == Errc::kAlreadyExists)
      co_return fail(
          Errc::kAlreadyExists,
          "{}: TrainingJob {} exists already; give it another name, change it with '{} apply -f', "
          "or run it again after its end with '{} rerun {} -n {} -f'",
          manifest.place, to_string(key), program_.called, program_.called, key.name, key.ns);
    if (job.error().code == Errc::kNotFound) {
      kube::Discovery discovery(access_.client);
      const auto kind = co_await discovery.find(kTrainingJobs.group, kTrainingJobs.kind);
      if (!kind)
        co_return std::unexpected<Error>(
            co_await job_not_found({.client = access_.client, .ns = key.ns}, key.name));
    }
    co_return wrap(std::move(job).error(), "{}", manifest.place);
  }

  Task<Result<Json>> dry_run(const Manifest& manifest) {
    CO_TRY(DryRun tried, co_await try_job(access_.client, manifest.object));
    if (!tried.unchecked.empty())
      program_.terminal.err(fmt::format("amdahl: {}: spec.template was not checked as a pod: {}\n",
                                        manifest.place, tried.unchecked));
    co_return std::move(tried.job);
  }

  // The kind takes any template; a typo in it would show only in the status of a job that failed.
  Task<Result<Json>> create_checked(const Manifest& manifest) {
    CO_TRY(co_await try_job(access_.client, manifest.object));
    co_return co_await create_job(access_.client, manifest.object);
  }

  void print(const Json& job, const kube::ObjectKey& key) {
    if (verb_.output == "name") {
      program_.terminal.out(fmt::format("{}/{}\n", kind_word(kTrainingJobs), key.name));
    } else if (!verb_.output.empty()) {
      program_.terminal.out((verb_.output == "yaml" ? "---\n" : "") +
                            object_text(job, verb_.output));
    } else {
      const std::string where =
          key.ns == access_.ns && verb_.access.ns.empty() ? std::string() : " -n " + key.ns;
      program_.terminal.out(fmt::format("{}/{} created{}\n", kind_word(kTrainingJobs), key.name,
                                        verb_.dry_run ? " (dry run)" : ""));
      if (!verb_.dry_run && !verb_.watch)
        program_.terminal.out(
            fmt::format("Next: {} describe {}{} -w\n", program_.called, key.name, where));
    }
  }

  Program& program_;
  Access access_;
  const SubmitVerb& verb_;
};

Task<Result<int>> submit_all(Program& program, Access access, const SubmitVerb& verb,
                             std::vector<Manifest> manifests) {
  Submitter submitter(program, std::move(access), verb);
  co_return co_await submitter.run(std::move(manifests));
}

Result<int> submit(Program& program, const SubmitVerb& verb) {
  TRY(auto manifests, read_manifests(program, verb.files, Names::kMayBeMade));
  TRY(check_kinds(manifests));
  if (verb.watch && (manifests.size() > 1 || !verb.output.empty()))
    return fail(Errc::kInvalid, "--watch takes one job, and no --output; nothing was submitted");
  TRY(const auto config, find_cluster(program, verb.access));
  return with_cluster(program, config, [&](Access access) {
    return submit_all(program, std::move(access), verb, std::move(manifests));
  });
}

}  // namespace

void add_submit(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb = app.add_subcommand("submit", "Start training jobs, as files say.");
  const auto options = std::make_shared<SubmitVerb>();
  verb->add_option("file", options->files, "YAML or JSON with TrainingJobs; - is standard input")
      ->type_name("FILE")
      ->required();
  verb->add_flag("--dry-run", options->dry_run,
                 "let the server check the job and its first pod, and create nothing");
  verb->add_flag("-w,--watch", options->watch, "then show the job until it ends");
  verb->add_option("-o,--output", options->output, "json, yaml or name: what was created")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"json", "yaml", "name"}).description(""));
  add_access_options(*verb, options->access);
  verb->footer(
      "Creates; a job of that name that exists is not changed ('apply' does that). A job with\n"
      "metadata.generateName gets a new name each time. Files with objects of other kinds are\n"
      "refused. The server checks a job and its pod before it is created. Stops at the first job\n"
      "that is refused.\n"
      "With --watch the exit code is 0 when the job succeeded, 1 when it did not.\n" +
      access_help() +
      "\nExamples:\n  amdahl submit job.yaml\n  amdahl submit job.yaml -n research --watch\n"
      "  amdahl submit job.yaml --dry-run -o yaml\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return submit(program, *options); };
  });
}

}  // namespace amdahl::cli
