#include "operator/api/training_job_crd.hpp"

#include <string_view>

#include "base/schema.hpp"
#include "operator/api/names.hpp"
#include "operator/api/training_job.hpp"

namespace amdahl::api {
namespace {

struct Column {
  std::string_view name = {};
  std::string_view type = {};
  std::string_view path = {};
  std::string_view doc = {};
  bool wide = false;
};
constexpr auto kColumns = std::to_array<Column>({
    {"Phase", "string", ".status.phase", "The state in one word."},
    {"Step", "integer", ".status.progress.step", "The last step that was reported."},
    {"Progress", "integer", ".status.progress.percent", "How much is done, in percent."},
    {"Last-Step", "date", ".status.progress.lastStepAt", "Time since the last step."},
    {"Workers", "integer", ".status.workers.ready", "How many pods are ready."},
    {"Restarts", "integer", ".status.restarts", "Restarts after failures and disruptions."},
    {"Queue", "string", ".spec.scheduling.queue", "The queue of the gang."},
    {"Age", "date", ".metadata.creationTimestamp", "Time since it was created."},
    {"Checkpoint", "integer", ".status.checkpoint.lastCommitted.step", "The step that is safe.",
     true},
    {"Goodput", "number", ".status.gpuSeconds.goodput", "The share of GPU time that counted.",
     true},
    {"Reason", "string", ".status.reason", "Why it is in this phase.", true},
});

Json columns() {
  Json list = Json::array();
  for (const Column& column : kColumns) {
    Json entry = {{"name", std::string(column.name)},
                  {"type", std::string(column.type)},
                  {"jsonPath", std::string(column.path)},
                  {"description", std::string(column.doc)}};
    if (column.wide) entry["priority"] = 1;
    list.push_back(std::move(entry));
  }
  return list;
}

Json described(Json type, std::string_view doc) {
  type["description"] = std::string(doc);
  return type;
}

// Rules that compare old with new are in the spec: here they would see managedFields too.
Json root_rules() {
  const auto rule = [](std::string_view text, std::string_view message) {
    return Json{{"rule", std::string(text)}, {"message", std::string(message)}};
  };
  return Json::array(
      {rule("self.metadata.name.size() <= 40",
            "the name must have at most 40 characters, so that every rank has a DNS name"),
       rule("self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
            "the name must be lower case letters, digits and dashes and begin with a letter, so "
            "that every rank has a DNS name")});
}

Json root_schema() {
  return {
      {"description",
       "A distributed training job: pods that start, fail and restart together, with "
       "checkpoints, pauses and an account of every GPU-second they held."},
      {"type", "object"},
      {"required", {"spec"}},
      {"properties",
       {{"apiVersion", {{"type", "string"}}},
        {"kind", {{"type", "string"}}},
        {"metadata", {{"type", "object"}}},
        {"spec", described(schema<TrainingJobSpec>(), "What is wanted.")},
        {"status", described(schema<TrainingJobStatus>(), "What is; the operator writes it.")}}},
      {"x-kubernetes-validations", root_rules()}};
}

}  // namespace

Json training_job_crd() {
  static_assert(kJobNameMax == 40, "the rule in root_rules() says 40");
  const std::string plural(kTrainingJobPlural);
  const Json names = {{"kind", std::string(kTrainingJobKind)},
                      {"listKind", "TrainingJobList"},
                      {"plural", plural},
                      {"singular", "trainingjob"},
                      {"shortNames", {"tj"}},
                      {"categories", {"amdahl"}}};
  const Json version = {{"name", std::string(kVersion)},
                        {"served", true},
                        {"storage", true},
                        {"subresources", {{"status", Json::object()}}},
                        {"additionalPrinterColumns", columns()},
                        {"schema", {{"openAPIV3Schema", root_schema()}}}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", plural + "." + std::string(kGroup)}}},
          {"spec",
           {{"group", std::string(kGroup)},
            {"scope", "Namespaced"},
            {"names", names},
            {"versions", Json::array({version})}}}};
}

}  // namespace amdahl::api
