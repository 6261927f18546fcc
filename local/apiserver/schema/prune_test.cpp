#include "local/apiserver/schema/prune.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/schema/defaults.hpp"
#include "local/apiserver/schema/training_job_fixture.hpp"

namespace amdahl::local {

TEST_CASE("prune drops what a schema does not know and says where") {
  struct Row {
    const char* property;
    const char* given;
    const char* kept;
    std::vector<std::string> dropped;
  };
  const Row row = GENERATE(values<Row>({
      {R"({"type": "string"})", R"("a")", R"("a")", {}},
      {R"({"type": "object", "properties": {"a": {"type": "string"}}})",
       R"({"a": "1", "b": 2})",
       R"({"a": "1"})",
       {"spec.x.b"}},
      {R"({"type": "object"})", R"({"a": {"b": 1}})", "{}", {"spec.x.a"}},
      {R"({"type": "array", "items": {"type": "object"}})",
       R"([{"a": 1}, {}, {"b": 1}])",
       "[{}, {}, {}]",
       {"spec.x[0].a", "spec.x[2].b"}},
      {R"({"type": "object", "x-kubernetes-preserve-unknown-fields": true})",
       R"({"a": {"b": 1}})",
       R"({"a": {"b": 1}})",
       {}},
      {R"({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
           "properties": {"a": {"type": "object"}}})",
       R"({"a": {"b": 1}, "c": {"d": 1}})",
       R"({"a": {}, "c": {"d": 1}})",
       {"spec.x.a.b"}},
      {R"({"type": "array", "x-kubernetes-preserve-unknown-fields": true,
           "items": {"type": "object"}})",
       R"([{"a": 1}])",
       R"([{"a": 1}])",
       {}},
      {R"({"type": "object", "additionalProperties": {"type": "object",
           "properties": {"n": {"type": "integer"}}}})",
       R"({"k": {"n": 1, "m": 2}})",
       R"({"k": {"n": 1}})",
       {"spec.x.k.m"}},
      {R"({"type": "object", "additionalProperties": true})",
       R"({"k": {"n": 1}, "l": [1]})",
       R"({"k": {}, "l": [1]})",
       {"spec.x.k.n"}},
      {R"({"type": "object", "x-kubernetes-embedded-resource": true,
           "properties": {"spec": {"type": "object"}}})",
       R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "odd": 1, "labels": {}},
           "spec": {"a": 1}, "more": 1})",
       R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {}})",
       {"spec.x.metadata.odd", "spec.x.more", "spec.x.spec.a"}},
  }));
  CAPTURE(row.property, row.given);
  Json object{{"spec", {{"x", Json::parse(row.given)}}}};
  CHECK(prune(*schema_with(row.property), object) == row.dropped);
  CHECK(object["spec"]["x"] == Json::parse(row.kept));
}

TEST_CASE("prune knows the fields of metadata") {
  Json object = Json::parse(R"json({"apiVersion": "a", "kind": "K", "metadata": {
    "name": "n", "clusterName": "old", "creationTimestamp": null, "annotations": {"any": "thing"},
    "generation": 0, "deletionGracePeriodSeconds": 0,
    "ownerReferences": [{"uid": "1", "extra": 1}],
    "managedFields": [{"fieldsV1": {"f:spec": {}}, "x": 1}]}, "other": 1})json");
  const auto dropped = prune(*schema_with(R"({"type": "string"})"), object);
  CHECK(dropped == std::vector<std::string>{"metadata.clusterName", "metadata.managedFields[0].x",
                                            "metadata.ownerReferences[0].extra", "other"});
  CHECK(object["metadata"] == Json::parse(R"({"name": "n", "annotations": {"any": "thing"},
    "deletionGracePeriodSeconds": 0, "ownerReferences": [{"uid": "1"}],
    "managedFields": [{"fieldsV1": {"f:spec": {}}}]})"));
}

TEST_CASE("apply_defaults fills what is absent, and what is null where it must not be") {
  struct Row {
    const char* property;
    const char* given;
    const char* filled;
  };
  const Row row = GENERATE(values<Row>({
      {R"({"type": "integer", "default": 3})", "{}", R"({"x": 3})"},
      {R"({"type": "integer", "default": 3})", R"({"x": 0})", R"({"x": 0})"},
      {R"({"type": "integer", "default": 3})", R"({"x": null})", R"({"x": 3})"},
      {R"({"type": "integer", "default": 3, "nullable": true})", R"({"x": null})",
       R"({"x": null})"},
      {R"({"type": "integer"})", R"({"x": null})", "{}"},
      {R"({"type": "object", "default": {}, "properties": {
           "a": {"type": "string", "default": "b"}}})",
       "{}", R"({"x": {"a": "b"}})"},
      {R"({"type": "object", "properties": {"a": {"type": "string", "default": "b"}}})", "{}",
       "{}"},
      {R"({"type": "array", "items": {"type": "object", "properties": {
           "p": {"type": "string", "default": "TCP"}}}})",
       R"({"x": [{}, {"p": "UDP"}]})", R"({"x": [{"p": "TCP"}, {"p": "UDP"}]})"},
      {R"({"type": "object", "additionalProperties": {"type": "object", "properties": {
           "p": {"type": "integer", "default": 1}}}})",
       R"({"x": {"k": {}, "n": null}})", R"({"x": {"k": {"p": 1}}})"},
      {R"({"type": "array", "items": {"type": "integer", "default": 7}})", R"({"x": [1, null]})",
       R"({"x": [1, 7]})"},
  }));
  CAPTURE(row.property, row.given);
  Json object{{"spec", Json::parse(row.given)}};
  apply_defaults(*schema_with(row.property), object);
  CHECK(object["spec"] == Json::parse(row.filled));
}

TEST_CASE("Defaults of a TrainingJob reach into its parts") {
  Json job = training_job();
  job["spec"]["volumes"] = Json::parse(R"([{"name": "data"}])");
  job["spec"].erase("suspend");
  apply_defaults(*training_job_schema(), job);
  CHECK(job["spec"]["checkpoint"] == Json::parse(R"({"interval": "Auto", "keepLast": 3})"));
  CHECK(job["spec"]["volumes"][0]["protocol"] == "TCP");
  CHECK(job["spec"]["suspend"] == false);
  CHECK(prune(*training_job_schema(), job).empty());
}

}  // namespace amdahl::local
