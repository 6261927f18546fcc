// Templates of any shape: refused with the path, or made into a pod; never an exception.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "operator/training/decide.hpp"
#include "operator/training/pod_template.hpp"
#include "operator/training/template_check.hpp"

namespace amdahl::training {
namespace {

const PodOptions kOptions{.launch_path = "/amdahl-launch", .report_url = "http://127.0.0.1:1"};

Json good_template() {
  return Json::parse(R"({"spec": {"containers": [
    {"name": "trainer", "image": "a", "command": ["python", "t.py"]}]}})");
}

TrainingJob job_with(Json pod_template) {
  TrainingJob job;
  job.metadata.name = "train";
  job.metadata.ns = "research";
  job.metadata.uid = "u1";
  job.spec.pod_template = std::move(pod_template);
  job.spec.nodes = 1;
  job.spec.checkpoint.uri = "gs://bucket/prefix";
  return job;
}

struct Row {
  const char* path;   // of the template, as a JSON pointer
  const char* value;  // null: the member is set to null
  const char* fault;  // nullptr: none
};

const Row kRows[] = {
    {"/spec/containers/0/image", "null",
     "spec.template.spec.containers[0].image: must be a string, is null"},
    {"/spec/containers/0/image", "5",
     "spec.template.spec.containers[0].image: must be a string, is a number"},
    {"/spec/containers/0/name", "null",
     "spec.template.spec.containers[0].name: must be a string, is null"},
    {"/spec/containers/0/resources", "[]",
     "spec.template.spec.containers[0].resources: must be an object, is a list"},
    {"/spec/containers/0/resources", "null", nullptr},
    {"/spec/containers/0/resources", R"({"limits": null})", nullptr},
    {"/spec/containers/0/resources", R"({"limits": {"nvidia.com/gpu": null}})", nullptr},
    {"/spec/containers/0/resources", R"({"limits": {"nvidia.com/gpu": [1]}})",
     "spec.template.spec.containers[0].resources.limits[\"nvidia.com/gpu\"]: must be a quantity, "
     "is a list"},
    {"/spec/containers/0/env", R"([{"name": 5}])",
     "spec.template.spec.containers[0].env[0].name: must be a string, is a number"},
    {"/spec/containers/0/env", R"({"A": "b"})",
     "spec.template.spec.containers[0].env: must be a list, is an object"},
    {"/spec/containers/0/env", "[null]",
     "spec.template.spec.containers[0].env[0]: must be an object, is null"},
    {"/spec/containers/0/env", "null", nullptr},
    {"/spec/containers/0/command", "\"python t.py\"",
     "spec.template.spec.containers[0].command: must be a list, is a string"},
    {"/spec/containers/0/command", "[\"python\", 5]",
     "spec.template.spec.containers[0].command[1]: must be a string, is a number"},
    {"/spec/containers", "{}", "spec.template.spec.containers: must be a list, is an object"},
    {"/spec/containers", "null",
     "spec.template.spec.containers: needs one container, or one that is named trainer"},
    {"/spec/containers", "[null]", "spec.template.spec.containers[0]: must be an object, is null"},
    {"/spec/initContainers", "[[]]",
     "spec.template.spec.initContainers[0]: must be an object, is a list"},
    {"/spec/initContainers", "null", nullptr},
    {"/spec/volumes", "{}", "spec.template.spec.volumes: must be a list, is an object"},
    {"/spec/volumes", "null", nullptr},
    {"/spec/affinity", "[]", "spec.template.spec.affinity: must be an object, is a list"},
    {"/spec/hostNetwork", "\"true\"",
     "spec.template.spec.hostNetwork: must be true or false, is a string"},
    {"/spec/terminationGracePeriodSeconds", "\"30\"",
     "spec.template.spec.terminationGracePeriodSeconds: must be an integer, is a string"},
    {"/spec", "[]", "spec.template.spec: must be an object, is a list"},
    {"/spec", "null",
     "spec.template.spec.containers: needs one container, or one that is named trainer"},
    {"/metadata", "7", "spec.template.metadata: must be an object, is a number"},
    {"/metadata", "null", nullptr},
    {"/metadata", R"({"labels": {"a": 1}})",
     "spec.template.metadata.labels[\"a\"]: must be a string, is a number"},
    {"/metadata", R"({"labels": {"a": null}, "annotations": null})", nullptr},
};

TEST_CASE("A template with a part of another type is refused with its path", "[A1]") {
  for (const Row& row : kRows) {
    Json pod_template = good_template();
    pod_template[Json::json_pointer(row.path)] = Json::parse(row.value);
    CAPTURE(row.path, row.value);
    const TrainingJob job = job_with(pod_template);
    CHECK(spec_fault(job.spec, kOptions).value_or("none") == (row.fault ? row.fault : "none"));
    Json pod;
    CHECK_NOTHROW(pod = pod_of(job, {}, kOptions));
    REQUIRE(pod["spec"]["containers"].is_array());
  }
}

TEST_CASE("A pod has no null members, whatever its template has", "[A1]") {
  Json pod_template = good_template();
  pod_template["spec"]["containers"][0]["env"] = {{{"name", "A"}, {"value", nullptr}}};
  pod_template["spec"]["nodeSelector"] = nullptr;
  const Json pod = pod_of(job_with(pod_template), {}, kOptions);
  CHECK(pod.dump().find("null") == std::string::npos);
}

Json numbered(std::size_t count, const Json& value) {
  Json many = Json::object();
  for (std::size_t i = 0; i < count; ++i) many[fmt::format("x/{}", i)] = value;
  return many;
}

TEST_CASE("What is counted for every gang and every node has a largest number", "[A1]") {
  Json pod_template = good_template();
  Json& spec = pod_template["spec"];
  const auto fault = [&] { return spec_fault(job_with(pod_template).spec, kOptions); };
  Json& limits = spec["containers"][0]["resources"]["limits"];
  limits = numbered(64, "1");
  CHECK_FALSE(fault());
  limits = numbered(100'000, "1");
  CHECK(fault() ==
        "spec.template.spec.containers[0].resources.limits: has 100000 entries, and at "
        "most 64 are allowed");
  limits = Json::object();
  spec["tolerations"] = std::vector<Json>(65, Json{{"key", "a"}});
  CHECK(fault().value_or("").starts_with("spec.template.spec.tolerations: has 65 entries"));
  spec["tolerations"] = Json::array();
  const Json values(std::vector<std::string>(513, "node"));
  spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = {
      {"nodeSelectorTerms",
       {{{"matchExpressions", {{{"key", "a"}, {"operator", "In"}, {"values", values}}}}}}}};
  CHECK(fault().value_or("").ends_with(".values: has 513 entries, and at most 512 are allowed"));
}

TEST_CASE("GPUs are counted up to a bound", "[A1]") {
  Json pod_template = good_template();
  pod_template["spec"]["containers"][0]["resources"]["limits"] = {
      {"a/gpu", 9'000'000'000'000'000'000}, {"b/gpu", "9E"}, {"c/gpu", -5}};
  CHECK(pod_of(job_with(pod_template), {}, kOptions)["metadata"]["labels"]["amdahl.dev/gpus"] ==
        "4096");
}

}  // namespace
}  // namespace amdahl::training
