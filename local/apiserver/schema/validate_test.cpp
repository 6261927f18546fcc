#include "local/apiserver/schema/validate.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/schema/training_job_fixture.hpp"

namespace amdahl::local {
namespace {

using Lines = std::vector<std::string>;

Json spec_with(const char* x) {
  return Json{{"spec", {{"x", Json::parse(x)}}}};
}

struct Row {
  const char* property;
  const char* value;
  Lines causes;
};

void check(const Row& row) {
  CAPTURE(row.property, row.value);
  CHECK(texts(validate(*schema_with(row.property), spec_with(row.value), nullptr)) == row.causes);
}

}  // namespace

TEST_CASE("validate speaks of numbers and types as a kube-apiserver does") {
  const Row row = GENERATE(values<Row>({
      {R"({"type": "integer", "minimum": 1})", "1", {}},
      {R"({"type": "integer", "minimum": 1})",
       "0",
       {"spec.x: Invalid value: 0: spec.x in body should be greater than or equal to 1"}},
      {R"({"type": "integer", "minimum": 1, "exclusiveMinimum": true})",
       "1",
       {"spec.x: Invalid value: 1: spec.x in body should be greater than 1"}},
      {R"({"type": "integer", "maximum": 4096})",
       "5000",
       {"spec.x: Invalid value: 5000: spec.x in body should be less than or equal to 4096"}},
      {R"({"type": "number", "maximum": 1.5, "exclusiveMaximum": true})",
       "1.5",
       {"spec.x: Invalid value: 1.5: spec.x in body should be less than 1.5"}},
      {R"({"type": "integer", "multipleOf": 4})",
       "6",
       {"spec.x: Invalid value: 6: spec.x in body should be a multiple of 4"}},
      {R"({"type": "integer"})",
       R"("a")",
       {"spec.x: Invalid value: \"string\": spec.x in body must be of type integer: \"string\""}},
      {R"({"type": "integer"})",
       "1.5",
       {"spec.x: Invalid value: \"number\": spec.x in body must be of type integer: \"number\""}},
      {R"({"type": "integer"})", "3.0", {}},
      {R"({"type": "integer", "format": "int32"})", "3000000000", {}},
      {R"({"type": "number"})", "3", {}},
      {R"({"type": "string"})",
       "null",
       {"spec.x: Invalid value: \"null\": spec.x in body must be of type string: \"null\""}},
      {R"({"type": "string", "nullable": true})", "null", {}},
  }));
  check(row);
}

TEST_CASE("validate speaks of texts as a kube-apiserver does") {
  const Row row = GENERATE(values<Row>({
      {R"({"type": "string", "enum": ["A", "B"]})",
       R"("x")",
       {"spec.x: Unsupported value: \"x\": supported values: \"A\", \"B\""}},
      {R"({"type": "integer", "enum": [1, 2]})",
       "3",
       {"spec.x: Unsupported value: 3: supported values: \"1\", \"2\""}},
      {R"({"type": "string", "maxLength": 2})",
       R"("\u00e4\u00f6\u00fc")",
       {"spec.x: Too long: may not be more than 2 bytes"}},
      {R"({"type": "string", "maxLength": 3})", R"("\u00e4\u00f6\u00fc")", {}},
      {R"({"type": "string", "minLength": 1})",
       R"("")",
       {"spec.x: Invalid value: \"\": spec.x in body should be at least 1 chars long"}},
      {R"({"type": "string", "pattern": "^a+$"})",
       R"("b\n")",
       {"spec.x: Invalid value: \"b\\n\": spec.x in body should match '^a+$'"}},
      {R"({"type": "string", "format": "date-time"})",
       R"("today")",
       {"spec.x: Invalid value: \"today\": spec.x in body must be of type date-time: \"today\""}},
      {R"({"type": "string", "format": "date-time"})",
       "5",
       {"spec.x: Invalid value: \"int64\": spec.x in body must be of type date-time: \"int64\""}},
  }));
  check(row);
}

TEST_CASE("validate speaks of lists and objects as a kube-apiserver does") {
  const Row row = GENERATE(values<Row>({
      {R"({"type": "array", "items": {"type": "string"}, "minItems": 1})",
       "[]",
       {"spec.x: Invalid value: 0: spec.x in body should have at least 1 items"}},
      {R"({"type": "array", "items": {"type": "string"}, "maxItems": 1})",
       R"(["a", "b"])",
       {"spec.x: Too many: 2: must have at most 1 item"}},
      {R"({"type": "array", "items": {"type": "string"}})",
       R"(["a", 1])",
       {"spec.x[1]: Invalid value: \"integer\": spec.x[1] in body must be of type string: "
        "\"integer\""}},
      {R"({"type": "object", "maxProperties": 1, "additionalProperties": {"type": "integer"}})",
       R"({"a": 1, "b": "c"})",
       {"spec.x: Too many: 2: must have at most 1 item",
        "spec.x.b: Invalid value: \"string\": spec.x.b in body must be of type integer: "
        "\"string\""}},
      {R"({"type": "object", "minProperties": 1})",
       "{}",
       {"spec.x: Invalid value: 0: spec.x in body should have at least 1 properties"}},
      {R"({"type": "object", "additionalProperties": false})",
       R"({"a": 1})",
       {"spec.x: Invalid value: \"a\": spec.x.a in body is a forbidden property"}},
      {R"({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}})",
       "{}",
       {"spec.x.a: Required value"}},
      {R"({"x-kubernetes-int-or-string": true})", "1", {}},
      {R"({"x-kubernetes-int-or-string": true})", R"("80%")", {}},
      {R"({"x-kubernetes-int-or-string": true})",
       "[]",
       {"spec.x: Invalid value: \"array\": spec.x in body must be of type integer,string: "
        "\"array\""}},
  }));
  check(row);
}

TEST_CASE("validate speaks of junctors and duplicates as a kube-apiserver does") {
  const Row row = GENERATE(values<Row>({
      {R"({"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 1}]})",
       "3",
       {"<nil>: Invalid value: \"\": \"spec.x\" must validate at least one schema (anyOf)",
        "spec.x: Invalid value: 3: spec.x in body should be greater than or equal to 5"}},
      {R"({"type": "integer", "oneOf": [{"minimum": 1}, {"maximum": 5}]})",
       "3",
       {"<nil>: Invalid value: \"\": \"spec.x\" must validate one and only one schema (oneOf). "
        "Found "
        "2 valid alternatives"}},
      {R"({"type": "integer", "allOf": [{"minimum": 1}, {"maximum": 5}]})",
       "9",
       {"spec.x: Invalid value: 9: spec.x in body should be less than or equal to 5",
        "<nil>: Invalid value: \"\": \"spec.x\" must validate all the schemas (allOf)"}},
      {R"({"type": "integer", "not": {"enum": [3]}})",
       "3",
       {"<nil>: Invalid value: \"\": \"spec.x\" must not validate the schema (not)"}},
      {R"({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}})",
       R"(["a", "b", "a", "a"])",
       {"spec.x[2]: Duplicate value: \"a\""}},
      {R"({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
           "items": {"type": "object", "required": ["name"],
                     "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}}})",
       R"([{"name": "a", "n": 1}, {"name": "a", "n": 2}])",
       {"spec.x[1]: Duplicate value: {\"name\":\"a\"}"}},
      {R"({"type": "object", "x-kubernetes-embedded-resource": true,
           "x-kubernetes-preserve-unknown-fields": true})",
       R"({"kind": ""})",
       {"spec.x.apiVersion: Required value",
        "spec.x.kind: Invalid value: \"\": must not be empty"}},
  }));
  check(row);
}

TEST_CASE("Causes carry the reasons of metav1.StatusCause") {
  const auto reason = [](const char* property, const char* value) {
    const auto causes = validate(*schema_with(property), spec_with(value), nullptr);
    return causes.empty() ? std::string() : causes[0].reason;
  };
  CHECK(reason(R"({"type": "integer", "minimum": 1})", "0") == kCauseInvalid);
  CHECK(reason(R"({"type": "integer"})", "true") == kCauseTypeInvalid);
  CHECK(reason(R"({"type": "string", "enum": ["a"]})", R"("b")") == kCauseNotSupported);
  CHECK(reason(R"({"type": "string", "maxLength": 0})", R"("b")") == kCauseTooLong);
  CHECK(reason(R"({"type": "array", "maxItems": 0, "items": {"type": "integer"}})", "[1]") ==
        kCauseTooMany);
}

TEST_CASE("An error in a value that did not change is forgiven") {
  const SchemaPtr schema = schema_with(R"({"type": "object", "properties": {
      "a": {"type": "string", "maxLength": 1}, "b": {"type": "string", "maxLength": 1}}})");
  const Json before = spec_with(R"({"a": "long", "b": "x"})");
  CHECK(validate(*schema, before, &before).empty());
  CHECK(texts(validate(*schema, spec_with(R"({"a": "long", "b": "also"})"), &before)) ==
        Lines{"spec.x.b: Too long: may not be more than 1 byte"});
  CHECK(validate(*schema, before, nullptr).size() == 1);
}

TEST_CASE("Items of a list map are forgiven by their keys, items of other lists are not") {
  const std::string items = R"("items": {"type": "object", "required": ["name"], "properties": {
      "name": {"type": "string"}, "v": {"type": "string", "maxLength": 1}}})";
  const SchemaPtr keyed = schema_with(R"({"type": "array", "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"], )" +
                                      items + "}");
  const SchemaPtr atomic = schema_with(R"({"type": "array", )" + items + "}");
  const Json before = spec_with(R"([{"name": "a", "v": "long"}])");
  const Json now = spec_with(R"([{"name": "b", "v": "x"}, {"name": "a", "v": "long"}])");
  CHECK(validate(*keyed, now, &before).empty());
  CHECK(validate(*atomic, now, &before).size() == 1);
}

TEST_CASE("Stored duplicates may stay") {
  const SchemaPtr schema = schema_with(
      R"({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}})");
  const Json before = spec_with(R"(["a", "a"])");
  CHECK(validate(*schema, spec_with(R"(["a", "a", "b"])"), &before).empty());
  const Json clean = spec_with(R"(["a"])");
  CHECK(validate(*schema, spec_with(R"(["a", "a"])"), &clean).size() == 1);
}

}  // namespace amdahl::local
