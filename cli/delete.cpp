#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
#include "cli/cluster_access.hpp"
#include "cli/manifests.hpp"
#include "cli/number_option.hpp"
#include "cli/resource_names.hpp"
#include "cli/verbs.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::cli {
namespace {

constexpr std::chrono::milliseconds kLookAgain{200};

struct DeleteVerb {
  AccessOptions access = {};
  std::vector<std::string> words = {};
  std::vector<std::string> files = {};
  std::string cascade = "background";
  std::optional<std::int64_t> grace_seconds = {};
  int timeout_seconds = 60;
  bool ignore_missing = false;
  bool no_wait = false;
};

struct Victim {
  kube::Resource resource = {};
  kube::ObjectKey key = {};
  std::string uid = {};
};

class Deleter {
 public:
  Deleter(Program& program, Access access, const DeleteVerb& verb)
      : program_(program), access_(std::move(access)), verb_(verb), discovery_(access_.client) {}

  Task<Result<int>> run(std::vector<Target> targets, std::vector<Manifest> manifests) {
    std::vector<Victim> victims;
    for (const Target& target : targets) {
      CO_TRY(const auto resource, co_await find_resource(discovery_, target.type));
      for (const std::string& name : target.names)
        victims.push_back({.resource = resource,
                           .key = {.ns = resource.namespaced ? access_.ns : "", .name = name}});
    }
    for (const Manifest& manifest : manifests) {
      CO_TRY(auto resource,
             co_await discovery_.find(manifest.group, manifest.kind, {manifest.version}));
      CO_TRY(auto key,
             place_of(manifest, resource.namespaced, access_.ns, !verb_.access.ns.empty()));
      victims.push_back({.resource = std::move(resource), .key = std::move(key)});
    }
    for (Victim& victim : victims) CO_TRY(co_await remove(victim));
    if (!verb_.no_wait)
      for (const Victim& victim : victims) CO_TRY(co_await wait_gone(victim));
    co_return kDone;
  }

 private:
  // Exactly the object that was there: a new one of the same name stays.
  Task<Result<void>> remove(Victim& victim) {
    const kube::DynamicApi api(access_.client, victim.resource);
    const auto seen = co_await api.get(victim.key);
    if (!seen && seen.error().code == Errc::kNotFound && verb_.ignore_missing)
      co_return Result<void>{};
    if (!seen) co_return std::unexpected<Error>(seen.error());
    victim.uid = uid_of(*seen);
    std::string propagation = verb_.cascade;
    propagation.front() = static_cast<char>(std::toupper(propagation.front()));
    auto gone = co_await api.remove(
        victim.key,
        {.uid = victim.uid, .grace_seconds = verb_.grace_seconds, .propagation = propagation});
    if (!gone && gone.error().code != Errc::kNotFound) co_return gone;
    program_.terminal.out(
        fmt::format("{}/{} deleted\n", kind_word(victim.resource), victim.key.name));
    co_return Result<void>{};
  }

  Task<Result<void>> wait_gone(const Victim& victim) {
    if (victim.uid.empty()) co_return Result<void>{};
    const kube::DynamicApi api(access_.client, victim.resource);
    const Monotonic deadline =
        program_.clock.monotonic() + std::chrono::seconds{verb_.timeout_seconds};
    for (;;) {
      const auto seen = co_await api.get(victim.key);
      if (!seen && seen.error().code == Errc::kNotFound) co_return Result<void>{};
      if (!seen) co_return std::unexpected<Error>(seen.error());
      if (uid_of(*seen) != victim.uid) co_return Result<void>{};
      if (program_.clock.monotonic() >= deadline) co_return still_there(victim, *seen);
      if (!co_await program_.clock.sleep_for(kLookAgain))
        co_return fail(Errc::kCancelled, "stopped");
    }
  }

  std::unexpected<Error> still_there(const Victim& victim, const Json& seen) const {
    const Json& finalizers = member_of(member_of(seen, "metadata"), "finalizers");
    const std::string who =
        finalizers.is_null() ? std::string() : "; its finalizers wait: " + finalizers.dump();
    return fail(Errc::kTimeout, "{} {} is being deleted and still there after {} s{}",
                victim.resource.plural, to_string(victim.key), verb_.timeout_seconds, who);
  }

  static std::string uid_of(const Json& object) {
    return std::string(text_of(member_of(object, "metadata"), "uid"));
  }

  Program& program_;
  Access access_;
  const DeleteVerb& verb_;
  kube::Discovery discovery_;
};

Task<Result<int>> delete_all(Program& program, Access access, const DeleteVerb& verb,
                             std::vector<Target> targets, std::vector<Manifest> manifests) {
  Deleter deleter(program, std::move(access), verb);
  co_return co_await deleter.run(std::move(targets), std::move(manifests));
}

Result<int> remove(Program& program, const DeleteVerb& verb) {
  std::vector<Target> targets;
  std::vector<Manifest> manifests;
  if (verb.files.empty() == verb.words.empty())
    return fail(Errc::kInvalid, "give TYPE NAME or -f FILE, one of them");
  if (verb.files.empty()) {
    TRY(targets, parse_targets(verb.words));
    for (const Target& target : targets)
      if (target.names.empty()) return fail(Errc::kInvalid, "which {}? Give a name", target.type);
  } else {
    TRY(manifests, read_manifests(program, verb.files));
  }
  TRY(const auto config, find_cluster(program, verb.access));
  return with_cluster(program, config, [&](Access access) {
    return delete_all(program, std::move(access), verb, std::move(targets), std::move(manifests));
  });
}

}  // namespace

void add_delete(CLI::App& app, Program& program, Action& action) {
  CLI::App* verb = app.add_subcommand("delete", "Delete objects, by name or as files say.");
  const auto options = std::make_shared<DeleteVerb>();
  verb->add_option("what", options->words, "TYPE NAME..., or TYPE/NAME...")->type_name("");
  verb->add_option("-f,--filename", options->files,
                   "delete what this file has; - is standard input")
      ->type_name("FILE");
  verb->add_option("--cascade", options->cascade,
                   "what happens to what it owns: background (default), foreground or orphan")
      ->type_name("HOW")
      ->check(CLI::IsMember({"background", "foreground", "orphan"}).description(""));
  take_from(0,
            *verb->add_option("--grace-period", options->grace_seconds, "seconds a pod gets to end")
                 ->type_name("S"));
  verb->add_option("--timeout", options->timeout_seconds,
                   "seconds to wait until it is gone (default 60)")
      ->type_name("S")
      ->check(CLI::Range(0, 86'400).description(""));
  verb->add_flag("--no-wait", options->no_wait, "do not wait until it is gone");
  verb->add_flag("--ignore-not-found", options->ignore_missing, "what is not there is no error");
  add_access_options(*verb, options->access);
  verb->footer(access_help() +
               "\nExamples:\n  amdahl delete pod llama-0\n  amdahl delete -f job.yaml\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return remove(program, *options); };
  });
}

}  // namespace amdahl::cli
