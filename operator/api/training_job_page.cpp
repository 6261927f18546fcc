#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/schema.hpp"
#include "operator/api/names.hpp"
#include "operator/api/training_job.hpp"
#include "operator/api/training_job_crd.hpp"

namespace amdahl::api {
namespace {

struct Row {
  std::string_view name = {};
  std::string_view meaning = {};
};

constexpr auto kConditions = std::to_array<Row>({
    {condition::kAdmitted, "the whole gang is bound to nodes"},
    {condition::kRunning, "every rank of the current attempt has started"},
    {condition::kSuspended,
     "no pod of the job exists, its PodGroup is gone, and the outcome of the pause is recorded"},
    {condition::kCheckpointReady,
     "a committed and verified checkpoint exists; the message has "
     "its step"},
    {condition::kSucceeded, "the job is done; terminal"},
    {condition::kFailed, "the job has failed for good; terminal"},
    {condition::kCancelled, "the job was cancelled; terminal"},
});

constexpr auto kPhases = std::to_array<Row>({
    {enum_name(Phase::kPending), "nothing of the gang exists yet"},
    {enum_name(Phase::kQueued), "the gang waits for its nodes"},
    {enum_name(Phase::kStarting), "all pods have a node, not all ranks have started"},
    {enum_name(Phase::kRunning), "all ranks have started"},
    {enum_name(Phase::kRestarting), "an attempt has ended, the next one has not begun"},
    {enum_name(Phase::kPausing), "a pause is asked for and not yet done"},
    {enum_name(Phase::kPaused), "the job holds nothing and waits for suspend: false"},
    {enum_name(Phase::kSucceeded), "done"},
    {enum_name(Phase::kFailed), "failed for good"},
    {enum_name(Phase::kCancelled), "ended by cancel: true"},
});

std::string table(std::string_view head, std::span<const Row> rows) {
  std::string text = fmt::format("| {} | means |\n| --- | --- |\n", head);
  for (const Row& row : rows) text += fmt::format("| `{}` | {} |\n", row.name, row.meaning);
  return text;
}

// Every message of a CEL rule, with the place it speaks of.
std::string rules_of(const Json& type, const std::string& path) {
  std::string text;
  if (const auto rules = type.find("x-kubernetes-validations"); rules != type.end()) {
    for (const Json& rule : *rules)
      text += fmt::format("| `{}` | {} |\n", path + rule.value("fieldPath", ""),
                          rule["message"].get<std::string>());
  }
  if (const auto properties = type.find("properties"); properties != type.end()) {
    for (const auto& [name, part] : properties->items()) text += rules_of(part, path + "." + name);
  }
  return text;
}

std::string causes() {
  std::string text = "| class | means |\n| --- | --- |\n";
  for (const CauseClassText& row : cause_classes())
    text += fmt::format("| `{}` | {} |\n", enum_name(row.value), row.meaning);
  return text;
}

}  // namespace

std::string training_job_page() {
  const Json root = training_job_crd()["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  std::string rules = "| place | rule |\n| --- | --- |\n";
  for (const Json& rule : root["x-kubernetes-validations"])
    rules += fmt::format("| `metadata.name` | {} |\n", rule["message"].get<std::string>());
  rules += rules_of(root["properties"]["spec"], "spec");
  return fmt::format(
      "# TrainingJob\n\n"
      "Generated from the field tables in `operator/api` by `make crds`; a test compares them. "
      "The\n"
      "definition itself is [crds/trainingjobs.yaml](../../crds/trainingjobs.yaml), manifests are "
      "in\n"
      "[examples](../../examples). API version `{}`, short name `tj`, category `amdahl`.\n\n"
      "## What is wanted\n\n{}\n"
      "## Rules\n\n"
      "Checked by the API server besides types and bounds; a change that breaks one is refused "
      "with\n"
      "these words.\n\n{}\n"
      "## What is\n\n{}\n"
      "## Conditions\n\n"
      "Exactly one of the terminal ones becomes True, once.\n\n{}\n"
      "## Phases\n\n"
      "One word for columns, derived from the conditions. Programs read conditions.\n\n{}\n"
      "## Causes\n\n"
      "The `class` of `status.attempts[].cause`. A newer operator may know more.\n\n{}",
      kApiVersion, reference_table<TrainingJobSpec>("spec"), rules,
      reference_table<TrainingJobStatus>("status"), table("condition", kConditions),
      table("phase", kPhases), causes());
}

}  // namespace amdahl::api
