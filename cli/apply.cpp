#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/cluster_access.hpp"
#include "cli/manifests.hpp"
#include "cli/resource_names.hpp"
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
  static const Json::json_pointer version_path("/metadata/resourceVersion");
  return object.contains(version_path) ? object.at(version_path).get<std::string>() : "";
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
    auto after = co_await api.apply(manifest.object,
                                    {.field_manager = std::string(kManager), .force = verb_.force});
    if (!after && after.error().code == Errc::kConflict)
      co_return wrap(std::move(after).error(),
                     "{}: somebody else manages a field (--force takes it)", manifest.place);
    if (!after) co_return wrap(std::move(after).error(), "{}", manifest.place);
    if (!before) co_return "created";
    co_return version_of(*before) == version_of(*after) ? "unchanged" : "configured";
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
  verb->add_flag("--force", options->force, "take fields that somebody else manages");
  add_access_options(*verb, options->access);
  verb->footer(
      "Server-side apply with the field manager amdahl: fields that an earlier apply had and this\n"
      "one does not have are removed. Stops at the first object that is refused.\n" +
      access_help() +
      "\nExamples:\n  amdahl apply -f job.yaml\n"
      "  amdahl apply -n research -f - <job.yaml\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return apply(program, *options); };
  });
}

}  // namespace amdahl::cli
