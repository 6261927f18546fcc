#include "tests/simulation/training_subject.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "operator/api/training_job_crd.hpp"
#include "operator/process/training_sink.hpp"
#include "operator/training/program.hpp"

namespace amdahl::simulation {
namespace {

class Trainings final : public Program {
 public:
  Trainings(const controller::Runtime& runtime, Rng rng, controller::ManagerOptions options)
      : manager_(runtime, rng.split(), std::move(options)),
        program_(runtime, rng.split(), {.ns = std::string(kNamespace)}, manager_, reports_) {}
  controller::Manager& manager() override { return manager_; }
  std::optional<api::ReportReply> report(const api::Report& report, Monotonic now) override {
    if (!manager_.leading()) return std::nullopt;
    const auto pod =
        find_job_pod(program_.caches(), {.ns = std::string(kNamespace), .name = report.pod});
    if (!pod || pod->pod_uid != report.pod_uid) return std::nullopt;
    (void)reports_.note(report, report.pod_uid, now);
    return reports_.reply_for({.key = pod->job, .uid = pod->job_uid}, pod->attempt, now);
  }
  static std::unique_ptr<Program> start(const controller::Runtime& runtime, Rng rng,
                                        controller::ManagerOptions options) {
    return std::make_unique<Trainings>(runtime, rng, std::move(options));
  }

 private:
  training::Reports reports_;
  controller::Manager manager_;
  training::TrainingProgram program_;
};

constexpr std::string_view kAgain = "again";  // paused and resumed
constexpr std::string_view kLeftover = " (ended, kept for its logs)";

std::int64_t between(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low)));
}

std::string path(std::string_view name = "") {
  return fmt::format("/apis/amdahl.dev/v1alpha1/namespaces/{}/trainingjobs{}{}", kNamespace,
                     name.empty() ? "" : "/", name);
}

UserStep submit(std::int64_t at_ms, std::string_view name, int nodes, std::string_view command,
                Json more = Json::object()) {
  Json spec{{"runtime", "Torchrun"},
            {"nodes", nodes},
            // By the wall clock, as Kubernetes' own deadlines: an hour's jump is an hour.
            {"deadlines", {{"start", "6h"}}},
            {"restart", {{"backoff", "2s"}, {"backoffMax", "10s"}, {"maxFailures", 20}}},
            {"template",
             {{"spec",
               {{"containers",
                 {{{"name", "trainer"}, {"image", "t"}, {"command", {"sh", "-c", command}}}}}}}}}};
  spec.merge_patch(more);
  const Json body{{"apiVersion", "amdahl.dev/v1alpha1"},
                  {"kind", "TrainingJob"},
                  {"metadata", {{"name", name}}},
                  {"spec", spec}};
  return {.at_ms = at_ms, .method = "POST", .target = path(), .body = body.dump()};
}
UserStep edit(std::int64_t at_ms, std::string_view name, Json spec) {
  return {.at_ms = at_ms,
          .method = "PATCH",
          .target = path(name),
          .body = Json{{"spec", std::move(spec)}}.dump()};
}

// One that succeeds, one that fails at first, one that is paused, one that is created suspended and
// resumed, one that is paused and resumed, one that is cancelled, one that is deleted, and in some
// worlds one that fails for good. Those in the middle hold until then, so that the end does not
// depend on who was faster.
std::vector<UserStep> script(std::uint64_t workload) {
  Rng rng(workload);
  const auto early = [&] { return between(rng, 1'000, 40'000); };
  const auto later = [&] { return between(rng, 45'000, 100'000); };
  std::vector<UserStep> steps{submit(early(), "good", 3, "train")};
  steps.push_back(submit(early(), "shaky", 2, "fail-below=2"));
  steps.push_back(submit(early(), "paused", 2, "hold"));
  steps.push_back(edit(later(), "paused", {{"suspend", true}}));
  steps.push_back(submit(early(), "resumed", 1, "train", {{"suspend", true}}));
  steps.push_back(edit(later(), "resumed", {{"suspend", false}}));
  steps.push_back(submit(early(), "cancelled", 1, "hold"));
  steps.push_back(edit(later(), "cancelled", {{"cancel", true}}));
  steps.push_back(submit(early(), "deleted", 1, "hold"));
  steps.push_back({.at_ms = later(), .method = "DELETE", .target = path("deleted")});
  steps.push_back(submit(early(), kAgain, 2, "hold"));
  const std::int64_t pause = later();
  steps.push_back(edit(pause, kAgain, {{"suspend", true}}));
  steps.push_back(edit(between(rng, pause + 100, 115'000), kAgain, {{"suspend", false}}));
  if (rng.chance(0.3))
    steps.push_back(
        submit(early(), "doomed", 2, "fail-below=99", {{"restart", {{"maxFailures", 1}}}}));
  return steps;
}

// The documented lives of a job, one job a world.
const std::vector<std::string> kLives = {"submit-to-success", "failure-restart", "pause-resume",
                                         "cancel", "delete"};

std::vector<UserStep> life_script(std::uint64_t workload) {
  constexpr std::int64_t kSubmit = 5'000, kChange = 25'000, kResume = 40'000;
  const std::string& life = kLives[workload];
  if (life == "submit-to-success") return {submit(kSubmit, "job", 2, "train")};
  if (life == "failure-restart") return {submit(kSubmit, "job", 2, "fail-below=2")};
  // It does not end before it can have been resumed, whether or not the pause was seen.
  if (life == "pause-resume")
    return {submit(kSubmit, kAgain, 2, "hold-until=60"), edit(kChange, kAgain, {{"suspend", true}}),
            edit(kResume, kAgain, {{"suspend", false}})};
  const UserStep submitted = submit(kSubmit, "job", 2, "hold");
  if (life == "cancel") return {submitted, edit(kChange, "job", {{"cancel", true}})};
  return {submitted, {.at_ms = kChange, .method = "DELETE", .target = path("job")}};
}

// Lives in which launchers have a say: pauses that are saved for, or not; a hang; a trainer that
// does not end when it is told to.
const std::vector<std::string> kLaunchedLives = {"pause-saved", "pause-resumed", "pause-refused",
                                                 "hang-restart", "stubborn-cancel"};

std::vector<UserStep> launched_script(std::uint64_t workload) {
  constexpr std::int64_t kSubmit = 5'000, kChange = 40'000, kResume = 90'000;
  const std::string& life = kLaunchedLives[workload];
  const std::string_view name = life == "pause-resumed" ? kAgain : "job";
  const auto submitted = [name](std::string_view command) {
    return submit(kSubmit, name, 2, command,
                  {{"deadlines", {{"step", "5m"}}},
                   {"checkpoint",
                    {{"uri", "file:///saved"},
                     {"interval", "1m"},
                     {"pause", {{"policy", "Committed"}, {"deadline", "30s"}}}}}});
  };
  const UserStep suspend = edit(kChange, name, {{"suspend", true}});
  if (life == "pause-saved") return {submitted("report"), suspend};
  if (life == "pause-resumed")
    return {submitted("report work=60"), suspend, edit(kResume, name, {{"suspend", false}})};
  // It is asked, does not hear, and stops at a checkpoint that it makes anyway.
  if (life == "pause-refused") return {submitted("report deaf"), suspend};
  if (life == "hang-restart") return {submitted("report hang-below=2 work=40")};
  return {submitted("report ignore-term"), edit(kChange, name, {{"cancel", true}})};
}

// Enough for a gang that begins when the last fault is over, hangs ten seconds later, and whose
// leader dies when five minutes are up. Not enough for a successor that waits for all five again.
// A deaf trainer does not answer, so its pause waits for a usual checkpoint that has every step.
std::int64_t launched_converge_ms(std::uint64_t workload) {
  const std::string& life = kLaunchedLives[workload];
  return life == "hang-restart" || life == "pause-refused" ? 680'000 : six_minutes(workload);
}

// Whether the pause of this one was seen before it was taken back depends on who was faster: which
// attempt runs in the end is left open, not that one does.
EndState any_attempt(const EndState& all) {
  const std::string prefix = fmt::format("pods {}/{}-", kNamespace, kAgain);
  EndState named;
  for (const auto& [id, text] : all) {
    if (!id.starts_with(prefix)) {
      named[id] = text;
      continue;
    }
    const Json object = Json::parse(text, nullptr, false);
    const std::string phase = object.value("/status/phase"_json_pointer, std::string());
    const bool ended = phase == "Succeeded" || phase == "Failed";
    const bool held = object["metadata"].contains("finalizers");
    const std::string rank = id.substr(id.rfind('-') + 1);
    named[fmt::format("{}*-{}{}", prefix, rank, ended && !held ? kLeftover : "")] += phase + " ";
  }
  return named;
}

// How each job ended, and that nothing of it is left but pods that have ended; which attempt it was
// depends on when a pod was lost.
EndState essence(const EndState& all) {
  EndState left;
  for (const auto& [id, text] : all) {
    const Json object = Json::parse(text, nullptr, false);
    if (!object.is_object()) {  // of any attempt
      if (!id.ends_with(kLeftover)) left[id] = text;
      continue;
    }
    const std::string phase = object.value("/status/phase"_json_pointer, std::string());
    if (id.starts_with("pods ")) {
      const bool held = object["metadata"].contains("finalizers");
      if (held || (phase != "Succeeded" && phase != "Failed")) left[id] = "still there";
    } else {
      left[id] = object.dump();
    }
  }
  return left;
}

// Which attempt it was, and what a pause saved, depend on when a pod was lost.
EndState launched_essence(const EndState& all) {
  EndState left;
  for (const auto& [id, text] : essence(all)) {
    Json object = Json::parse(text, nullptr, false);
    if (object.is_object() && object.contains("status")) object["status"].erase("pause");
    left[id] = object.is_discarded() ? text : object.dump();
  }
  return left;
}

const char* const kPodGroups = R"({
  "metadata": {"name": "podgroups.scheduling.volcano.sh"},
  "spec": {
    "group": "scheduling.volcano.sh", "scope": "Namespaced",
    "names": {"plural": "podgroups", "singular": "podgroup", "kind": "PodGroup",
              "listKind": "PodGroupList"},
    "versions": [{"name": "v1beta1", "served": true, "storage": true,
      "schema": {"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
          "minMember": {"type": "integer"}, "queue": {"type": "string"}}},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}]}})";

}  // namespace

Subject training_subject() {
  return {.name = "training",
          .about = "operator/training",
          .kinds = all_faults(),
          .start = Trainings::start,
          .script = script,
          .definitions = {kPodGroups, api::training_job_crd().dump()},
          .general = any_attempt,
          .essence = essence};
}

Subject one_job_subject() {
  Subject subject = training_subject();
  subject.name = "job";
  subject.about = "operator/training, one job a world";
  subject.script = life_script;
  subject.workloads = kLives.size();
  subject.workload_names = kLives;
  subject.grid_ms = 1'000;
  return subject;
}

Subject launched_subject() {
  Subject subject = one_job_subject();
  subject.name = "launched";
  subject.about = "operator/training, one job a world, with launchers that report";
  subject.script = launched_script;
  subject.workloads = kLaunchedLives.size();
  subject.workload_names = kLaunchedLives;
  subject.essence = launched_essence;
  subject.converge_ms = launched_converge_ms;
  return subject;
}

}  // namespace amdahl::simulation
