#include "tests/simulation/subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "examples/gang.hpp"
#include "examples/mirror.hpp"
#include "tests/simulation/copies.hpp"
#include "tests/simulation/training_subject.hpp"

namespace amdahl::simulation {
namespace {

using controller::ManagerOptions;
using controller::Runtime;

template <class P>
class Held final : public Program {
 public:
  Held(const Runtime& runtime, Rng rng, ManagerOptions options)
      : program_(runtime, rng, std::string(kNamespace), std::move(options)) {}
  controller::Manager& manager() override { return program_.manager; }
  static std::unique_ptr<Program> start(const Runtime& runtime, Rng rng, ManagerOptions options) {
    return std::make_unique<Held>(runtime, rng, std::move(options));
  }

 private:
  P program_;
};

// A process around a reconciler of ConfigMaps.
template <class R>
struct MapsProgram {
  MapsProgram(const Runtime& runtime, Rng rng, const std::string& ns, ManagerOptions options)
      : watcher(runtime.client, rng.split(),
                {.resource = kube::kConfigMaps, .ns = ns, .shape = Maps::shape()}, maps),
        reconciler(maps, rng.split()),
        controller(runtime, rng.split(), {.name = "maps"}, reconciler),
        manager(runtime, rng.split(), std::move(options)) {
    controller.reconciles(maps);
    controller.owns(maps);
    manager.add_source(maps, [this] { return watcher.run(); });
    manager.add(controller);
  }
  Maps maps;
  kube::Watcher watcher;
  R reconciler;
  controller::Controller controller;
  controller::Manager manager;
};

std::string path(std::string_view name = "") {
  return fmt::format("/api/v1/namespaces/{}/configmaps{}{}", kNamespace, name.empty() ? "" : "/",
                     name);
}

UserStep create(std::int64_t at_ms, std::string_view name, Json labels, Json data) {
  const Json body{{"metadata", {{"name", name}, {"labels", std::move(labels)}}},
                  {"data", std::move(data)}};
  return {.at_ms = at_ms, .method = "POST", .target = path(), .body = body.dump()};
}
UserStep edit(std::int64_t at_ms, std::string_view name, Json data) {
  return {.at_ms = at_ms,
          .method = "PATCH",
          .target = path(name),
          .body = Json{{"data", std::move(data)}}.dump()};
}
UserStep remove(std::int64_t at_ms, std::string_view name) {
  return {.at_ms = at_ms, .method = "DELETE", .target = path(name)};
}
std::int64_t between(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low)));
}

// Originals that come, change, go and come back; one finds its mirror's name taken for a while.
std::vector<UserStep> mirror_script(std::uint64_t workload) {
  Rng rng(workload);
  std::vector<UserStep> steps;
  for (const char* name : {"a", "b", "c"}) {
    const std::int64_t start = between(rng, 1'000, 40'000);
    steps.push_back(create(start, name, {{"mirror", "yes"}}, {{"k", "1"}, {"gone", "soon"}}));
    steps.push_back(edit(between(rng, start + 10, 90'000), name, {{"k", "2"}, {"gone", nullptr}}));
  }
  const std::int64_t left = between(rng, 45'000, 100'000);
  steps.push_back(remove(left, "a"));
  if (rng.chance(0.5))
    steps.push_back(
        create(between(rng, left + 10, 110'000), "a", {{"mirror", "yes"}}, {{"k", "3"}}));
  steps.push_back(create(500, "d-mirror", {{"precious", "yes"}}, {{"mine", "1"}}));
  steps.push_back(create(between(rng, 10'000, 40'000), "d", {{"mirror", "yes"}}, {{"k", "1"}}));
  steps.push_back(remove(between(rng, 60'000, 110'000), "d-mirror"));
  return steps;
}

std::vector<UserStep> replace_script(std::uint64_t workload) {
  Rng rng(workload);
  std::vector<UserStep> steps;
  for (const char* name : {"a", "b"}) {
    const std::int64_t start = between(rng, 1'000, 40'000);
    steps.push_back(create(start, name, {{"replace", "yes"}}, {{"k", "1"}}));
    steps.push_back(edit(between(rng, start + 20'000, 110'000), name, {{"k", "2"}}));
  }
  return steps;
}

std::vector<UserStep> counted_script(std::uint64_t workload) {
  Rng rng(workload);
  return {create(between(rng, 1'000, 40'000), "a", {{"copies", "3"}}, {{"k", "1"}}),
          create(between(rng, 1'000, 40'000), "b", {{"copies", "2"}}, {{"k", "1"}})};
}

// A gang that succeeds, one that fails at first, and in some worlds one that fails for good.
std::vector<UserStep> gang_script(std::uint64_t workload) {
  Rng rng(workload);
  const auto gang = [&](std::string_view name, std::string_view size, std::string command,
                        std::string_view restarts) {
    return create(between(rng, 1'000, 60'000), name, {{"gang", "yes"}},
                  {{"size", size}, {"command", std::move(command)}, {"maxRestarts", restarts}});
  };
  std::vector<UserStep> steps{gang("good", "3", "train", "20")};
  steps.push_back(gang("shaky", "2", fmt::format("fail-below={}", rng.below(3)), "20"));
  if (rng.chance(0.3)) steps.push_back(gang("doomed", "2", "fail-below=99", "1"));
  return steps;
}

// How each gang ended; which attempt it was depends on when a pod was lost.
EndState gang_essence(const EndState& all) {
  EndState essence;
  for (const auto& [id, text] : all) {
    Json object = Json::parse(text, nullptr, false);
    if (id.starts_with("pods ")) {
      const std::string phase = object.value("/status/phase"_json_pointer, std::string());
      if (phase != "Succeeded" && phase != "Failed") essence[id] = "still there";
      continue;
    }
    if (object.contains("data")) object["data"].erase("attempt");
    essence[id] = object.dump();
  }
  return essence;
}

const char* const kPodGroupDefinition = R"({
  "metadata": {"name": "podgroups.scheduling.volcano.sh"},
  "spec": {
    "group": "scheduling.volcano.sh", "scope": "Namespaced",
    "names": {"plural": "podgroups", "singular": "podgroup", "kind": "PodGroup",
              "listKind": "PodGroupList"},
    "versions": [{"name": "v1beta1", "served": true, "storage": true,
      "subresources": {"status": {}},
      "schema": {"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"minMember": {"type": "integer"}}},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}]}})";

// Both processes start again on a replica of the server that is behind.
FaultPlan stale_restart(Rng& rng) {
  const std::int64_t at = between(rng, 40'000, 110'000);
  const std::int64_t behind = between(rng, 1, 30);
  FaultPlan plan;
  for (const std::int32_t replica : {0, 1}) {
    plan.push_back({FaultKind::kStaleStart, at, replica, behind, kFaultsEndMs - at});
    plan.push_back({FaultKind::kKill, at, replica, 0, between(rng, 1'000, 10'000)});
  }
  return plan;
}

// Events come late to one, the other dies, and the late one takes over.
FaultPlan late_successor(Rng& rng) {
  const auto late = static_cast<std::int32_t>(rng.below(2));
  const std::int64_t death = between(rng, 40'000, 110'000);
  return {{FaultKind::kLag, 1'000, late, 90'000, 120'000},
          {FaultKind::kKill, death, 1 - late, 0, 60'000}};
}

FaultPlan stopped_writer(Rng& rng) {
  return {{FaultKind::kFreezeAtWrite, between(rng, 1, 10), 0, 0, between(rng, 35'000, 60'000)}};
}

FaultPlan nothing(Rng& /*rng*/) {
  return {};
}

std::vector<Subject> right_subjects() {
  std::vector<Subject> all;
  all.push_back({.name = "mirror",
                 .about = "examples/mirror.hpp",
                 .kinds = faults_without_pods(),
                 .start = Held<examples::MirrorProgram>::start,
                 .script = mirror_script,
                 .monkey_edit = R"({"data":{"monkey":"was here"}})"});
  all.push_back({.name = "gang",
                 .about = "examples/gang.hpp",
                 .kinds = all_faults(),
                 .start = Held<examples::GangProgram>::start,
                 .script = gang_script,
                 .definitions = {kPodGroupDefinition},
                 .essence = gang_essence});
  all.push_back(training_subject());
  all.push_back(one_job_subject());
  all.push_back(launched_subject());
  all.push_back({.name = "replace",
                 .about = "a child that is deleted and made again when it is outdated",
                 .kinds = faults_without_pods(),
                 .start = Held<MapsProgram<Replace>>::start,
                 .script = replace_script});
  all.push_back({.name = "counted",
                 .about = "children with random names; right while no answer is lost",
                 .kinds = {FaultKind::kLag, FaultKind::kDuplicate, FaultKind::kCoalesce,
                           FaultKind::kCompact, FaultKind::kBreakStreams, FaultKind::kWallJump,
                           FaultKind::kReorder, FaultKind::kPagedLists},
                 .start = Held<MapsProgram<Counted>>::start,
                 .script = counted_script});
  return all;
}

std::vector<Subject> make_subjects() {
  std::vector<Subject> all = right_subjects();
  const auto wrong = [&all](std::string_view base, std::string name, std::string about,
                            std::optional<Rule> off, FaultPlan (*draw)(Rng&)) {
    Subject subject = *std::ranges::find(all, base, &Subject::name);
    subject.reference = base;
    subject.name = std::move(name);
    subject.about = std::move(about);
    subject.off = off;
    subject.draw = draw;
    subject.wrong = true;
    all.push_back(std::move(subject));
  };
  wrong("mirror", "no-l1", "starts from any list, however old", Rule::kL1, stale_restart);
  wrong("mirror", "no-w1", "takes what has the right name for its own", {}, nothing);
  all.back().start = Held<MapsProgram<Adopter>>::start;
  wrong("counted", "no-w2", "does not wait for its own writes", Rule::kW2, nothing);
  wrong("replace", "no-w3", "deletes by name, without a look", Rule::kW3, late_successor);
  wrong("mirror", "no-e2", "writes when the lease is lost", Rule::kE2, stopped_writer);
  wrong("training", "training-no-e2", "the same of training jobs", Rule::kE2, stopped_writer);
  return all;
}

}  // namespace

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> kAll = make_subjects();
  return kAll;
}

const Subject* find_subject(std::string_view name) {
  const auto found = std::ranges::find(subjects(), name, &Subject::name);
  return found == subjects().end() ? nullptr : &*found;
}

std::set<FaultKind> all_faults() {
  std::set<FaultKind> kinds;
  for (std::size_t i = 0; i < kFaultKinds; ++i) kinds.insert(static_cast<FaultKind>(i));
  return kinds;
}

std::set<FaultKind> faults_without_pods() {
  std::set<FaultKind> kinds = all_faults();
  for (const FaultKind kind : {FaultKind::kSlowBinding, FaultKind::kPodKill, FaultKind::kPodDelete,
                               FaultKind::kPreempt, FaultKind::kNodeLoss})
    kinds.erase(kind);
  return kinds;
}

}  // namespace amdahl::simulation
