#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json_decode.hpp"
#include "base/json_member.hpp"
#include "cli/cluster_access.hpp"
#include "cli/field_owners.hpp"
#include "cli/manifests.hpp"
#include "cli/resource_names.hpp"
#include "cli/text_layout.hpp"
#include "cli/training_jobs.hpp"
#include "cli/verbs.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::cli {
namespace {

constexpr int kNewKindTries = 50;
constexpr std::chrono::milliseconds kNewKindPause{200};

struct ApplyVerb {
  AccessOptions access = {};
  std::vector<std::string> files = {};
  bool force = false;
};

std::string version_of(const Json& object) {
  return std::string(text_of(member_of(object, "metadata"), "resourceVersion"));
}

// Applies one object after the other; made for one run.
class Applier {
 public:
  Applier(Program& program, Access access, const ApplyVerb& verb)
      : program_(program), access_(std::move(access)), verb_(verb), discovery_(access_.client) {}

  Task<Result<int>> run(std::vector<Manifest> manifests) {
    for (Manifest& manifest : manifests) {
      CO_TRY(const auto resource, co_await resource_of(manifest));
      CO_TRY(const std::string outcome, co_await apply(resource, manifest));
      program_.terminal.out(
          fmt::format("{}/{} {}\n", kind_word(resource), manifest.key.name, outcome));
      if (resource.plural != "customresourcedefinitions") continue;
      kinds_are_new_ = true;
      discovery_.forget();
    }
    co_return kDone;
  }

 private:
  // A kind whose CRD came a moment ago may not be served yet.
  Task<Result<kube::Resource>> resource_of(const Manifest& manifest) {
    for (int tries = 0;; ++tries) {
      auto found = co_await discovery_.find(manifest.group, manifest.kind, {manifest.version});
      const bool wait = !found && found.error().code == Errc::kNotFound && kinds_are_new_ &&
                        tries < kNewKindTries;
      if (!found && !wait) co_return wrap(std::move(found).error(), "{}", manifest.place);
      if (found) co_return found;
      discovery_.forget();
      if (!co_await program_.clock.sleep_for(kNewKindPause))
        co_return fail(Errc::kCancelled, "stopped");
    }
  }

  Task<Result<std::string>> apply(const kube::Resource& resource, Manifest& manifest) {
    CO_TRY(const auto key,
           place_of(manifest, resource.namespaced, access_.ns, !verb_.access.ns.empty()));
    if (resource.namespaced) manifest.object["metadata"]["namespace"] = key.ns;
    const kube::DynamicApi api(access_.client, resource);
    const auto before = co_await api.get(key);
    if (!before && before.error().code != Errc::kNotFound)
      co_return std::unexpected<Error>(before.error());
    const bool force = verb_.force || !before || !others_manage(*before, manifest.object);
    const auto after = co_await api.apply(
        manifest.object, {.field_manager = std::string(kFileManager), .force = force});
    const std::string ended = before ? ended_phase(resource, *before) : "";
    if (!after) co_return refusal(manifest, key, after.error(), ended);
    if (!before) co_return "created";
    const bool same = version_of(*before) == version_of(*after);
    if (!ended.empty()) tell_ended(key, ended, same);
    if (ended.empty()) tell_suspend(resource, manifest.object, *before, *after);
    co_return same ? "unchanged" : "configured";
  }

  std::unexpected<Error> refusal(const Manifest& manifest, const kube::ObjectKey& key, Error error,
                                 const std::string& ended) const {
    if (error.code == Errc::kConflict)
      return wrap(std::move(error),
                  "{}: another program manages a field of it (--force takes the field over)",
                  manifest.place);
    if (!ended.empty())
      return fail(
          error.code, "{}: {}; the job has ended ({}). To run it again, as the file says: {} -f {}",
          manifest.place, error.context, ended, rerun_command(key), shell_word(manifest.file));
    return wrap(std::move(error), "{}", manifest.place);
  }

  // To be pasted: it goes to the cluster that this run of apply was for.
  std::string rerun_command(const kube::ObjectKey& key) const {
    std::string text = fmt::format("{} rerun {} -n {}", program_.called, key.name, key.ns);
    if (!verb_.access.kubeconfig.empty())
      text += " --kubeconfig " + shell_word(verb_.access.kubeconfig);
    if (!verb_.access.context.empty()) text += " --context " + shell_word(verb_.access.context);
    return text;
  }

  // The phase of a TrainingJob that has ended, and "" of everything else.
  static std::string ended_phase(const kube::Resource& resource, const Json& object) {
    if (resource.group != kTrainingJobs.group || resource.kind != kTrainingJobs.kind) return "";
    const auto job = decode<TrainingJob>(kube::api_detail::text_of(object));
    if (!job || !is_finished(phase_of(*job).phase)) return "";
    return std::string(enum_name(phase_of(*job).phase));
  }

  void tell_ended(const kube::ObjectKey& key, const std::string& phase, bool same) {
    program_.terminal.err(fmt::format(
        "amdahl: TrainingJob {} has ended ({}){}. To run it again: {}\n", to_string(key), phase,
        same ? "" : ", so the change starts nothing", rerun_command(key)));
  }

  // A file that mentions spec.suspend decides it, also against a pause that a user asked for. So
  // does one that mentioned it when it was applied last, and no longer does.
  void tell_suspend(const kube::Resource& resource, const Json& file, const Json& before,
                    const Json& after) {
    const Json& was = member_of(member_of(before, "spec"), "suspend");
    const Json& now = member_of(member_of(after, "spec"), "suspend");
    if (resource.group != kTrainingJobs.group || was.is_null() || now.is_null()) return;
    if (was == now) return;
    const bool said = !member_of(member_of(file, "spec"), "suspend").is_null();
    const std::string why = said ? fmt::format("the file says spec.suspend: {}", now.dump())
                                 : "the file no longer has spec.suspend, which it set before";
    program_.terminal.err(
        fmt::format("amdahl: {}, so the job {}\n", why, now == true ? "pauses" : "runs again"));
  }

  Program& program_;
  Access access_;
  const ApplyVerb& verb_;
  kube::Discovery discovery_;
  bool kinds_are_new_ = false;
};

Task<Result<int>> apply_all(Program& program, Access access, const ApplyVerb& verb,
                            std::vector<Manifest> manifests) {
  Applier applier(program, std::move(access), verb);
  co_return co_await applier.run(std::move(manifests));
}

Result<int> apply(Program& program, const ApplyVerb& verb) {
  TRY(auto manifests, read_manifests(program, verb.files));
  TRY(const auto config, find_cluster(program, verb.access));
  return with_cluster(program, config, [&](Access access) {
    return apply_all(program, std::move(access), verb, std::move(manifests));
  });
}

}  // namespace

void add_apply(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb = app.add_subcommand("apply", "Create or change objects, as files say.");
  const auto options = std::make_shared<ApplyVerb>();
  verb->add_option("-f,--filename", options->files,
                   "YAML or JSON with any number of objects; - is standard input")
      ->type_name("FILE")
      ->required();
  verb->add_flag("--force", options->force, "take fields over that another program manages");
  add_access_options(*verb, options->access);
  verb->footer(
      "Server-side apply with the field manager of kubectl: fields that an earlier apply (or\n"
      "submit) had and this one does not have are removed, and 'kubectl apply' works on the same\n"
      "objects, before and after. Values that were set with kubectl or amdahl are replaced; a "
      "field\n"
      "that another program manages is a conflict. A file without spec.suspend leaves a paused "
      "job\n"
      "paused; one with it decides. Stops at the first object that is refused.\n" +
      access_help() +
      "\nExamples:\n  amdahl apply -f job.yaml\n"
      "  amdahl apply -n research -f - <job.yaml\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return apply(program, *options); };
  });
}

}  // namespace amdahl::cli
