#include "local/apiserver/schema/schema.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/schema/training_job_fixture.hpp"

namespace amdahl::local {
namespace {

using Lines = std::vector<std::string>;

Lines refused(const std::string& schema, bool status = false) {
  return texts(compile_crd_schema(Json::parse(schema),
                                  CrdSchemaOptions{.prefix = "s", .status_subresource = status})
                   .causes);
}
Lines refused_property(const std::string& property) {
  return refused(R"({"type": "object", "properties": {"x": )" + property + "}}");
}

}  // namespace

TEST_CASE("A schema that is not structural is refused in the words of a kube-apiserver") {
  struct Row {
    const char* schema;
    Lines causes;
  };
  const Row row = GENERATE(values<Row>({
      {R"({})", {"s.type: Required value: must not be empty at the root"}},
      {R"({"type": "array", "items": {"type": "string"}})",
       {"s.type: Invalid value: \"array\": must be object at the root"}},
      {R"({"type": "object", "properties": {"x": {}}})",
       {"s.properties[x].type: Required value: must not be empty for specified object fields"}},
      {R"({"type": "object", "properties": {"x": {"type": "array"}}})",
       {"s.properties[x].items: Required value: must be specified"}},
      {R"({"type": "object", "properties": {"x": {"type": "array", "items": {}}}})",
       {"s.properties[x].items.type: Required value: must not be empty for specified array items"}},
      {R"({"type": "object", "additionalProperties": true})",
       {"s.additionalProperties: Forbidden: must not be used at the root"}},
      {R"({"type": "object", "properties": {"metadata": {"type": "object",
           "properties": {"labels": {"type": "object"}}}}})",
       {"s.properties[metadata]: Forbidden: must not specify anything other than name and "
        "generateName, but metadata is implicitly specified"}},
      {R"({"type": "object", "properties": {"kind": {"type": "integer"}}})",
       {"s.properties[kind].type: Invalid value: \"integer\": must be string"}},
      {R"({"type": "object", "anyOf": [{"properties": {"a": {"minimum": 1}}}]})",
       {"s.properties[a]: Required value: because it is defined in s.anyOf[0].properties[a]"}},
      {R"({"type": "object", "properties": {"x": {"type": "object", "not": {"type": "object",
           "default": {}, "nullable": true}}}})",
       {"s.properties[x].not.default: Forbidden: must be undefined to be structural",
        "s.properties[x].not.nullable: Forbidden: must be false to be structural",
        "s.properties[x].not.type: Forbidden: must be empty to be structural"}},
      {R"({"type": "object", "properties": {"x": {"type": "string", "pattern": "a("}}})",
       {"s.properties[x].pattern: Invalid value: \"a(\": must be a valid regular expression, but "
        "isn't: error parsing regexp: missing closing ): `a(`"}},
      {R"({"type": "object", "properties": {"x": {"type": "string",
           "x-kubernetes-embedded-resource": true}}})",
       {"s.properties[x].properties: Required value: must not be empty if "
        "x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
        "s.properties[x].type: Invalid value: \"string\": must be object if "
        "x-kubernetes-embedded-resource is true"}},
  }));
  CAPTURE(row.schema);
  CHECK(refused(row.schema) == row.causes);
}

TEST_CASE("A property of a schema is refused for what it says by itself") {
  struct Row {
    const char* property;
    Lines causes;
  };
  const Row row = GENERATE(values<Row>({
      {R"({"type": "text"})",
       {"s.properties[x].type: Unsupported value: \"text\": supported values: \"array\", "
        "\"boolean\", \"integer\", \"number\", \"object\", \"string\""}},
      {R"({"type": "string", "$ref": "#/a"})",
       {"s.properties[x].$ref: Forbidden: $ref is not supported"}},
      {R"({"type": "object", "properties": {"a": {"type": "string"}},
           "additionalProperties": {"type": "string"}})",
       {"s.properties[x].additionalProperties: Forbidden: additionalProperties and properties are "
        "mutual exclusive"}},
      {R"({"type": "array", "uniqueItems": true, "items": {"type": "string"}})",
       {"s.properties[x].uniqueItems: Forbidden: uniqueItems cannot be set to true since the "
        "runtime complexity becomes quadratic"}},
      {R"({"type": "object", "x-kubernetes-preserve-unknown-fields": false})",
       {"s.properties[x].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true "
        "or undefined"}},
      {R"({"type": "array", "x-kubernetes-list-type": "bag", "items": {"type": "string"}})",
       {"s.properties[x].x-kubernetes-list-type: Unsupported value: \"bag\": supported values: "
        "\"atomic\", \"set\", \"map\""}},
      {R"({"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "object"}})",
       {"s.properties[x].x-kubernetes-list-map-keys: Required value: must not be empty if "
        "x-kubernetes-list-type is map"}},
      {R"({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"],
           "items": {"type": "object", "properties": {"n": {"type": "string"}}}})",
       {"s.properties[x].items.properties[n].default: Required value: this property is in "
        "x-kubernetes-list-map-keys, so it must have a default or be a required property"}},
      {R"({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"],
           "items": {"type": "object"}})",
       {"s.properties[x].x-kubernetes-list-map-keys: Invalid value: [\"n\"]: entries must all be "
        "names of item properties"}},
      {R"({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object"}})",
       {"s.properties[x].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item "
        "of a list with x-kubernetes-list-type=set"}},
      {R"({"type": "string", "x-kubernetes-map-type": "atomic"})",
       {"s.properties[x].type: Invalid value: \"string\": must be object if x-kubernetes-map-type "
        "is specified"}},
      {R"({"type": "integer", "minimum": 1, "default": 0})",
       {"s.properties[x].default: Invalid value: 0:  in body should be greater than or equal to "
        "1"}},
      {R"({"type": "object", "default": {"a": 1}})",
       {"s.properties[x].default: Invalid value: {\"a\":1}: must not have unknown fields"}},
      {R"({"type": 5})", {"s.properties[x].type: Invalid value: \"number\": must be a string"}},
      {R"({"type": "string", "required": [1]})",
       {"s.properties[x].required: Invalid value: \"array\": must be an array of strings"}},
  }));
  CAPTURE(row.property);
  CHECK(refused_property(row.property) == row.causes);
}

TEST_CASE("The root of a schema with a status subresource is restricted") {
  CHECK(refused(R"({"type": "object", "nullable": true})") ==
        Lines{"s.nullable: Forbidden: nullable cannot be true at the root"});
  const Lines lines = refused(R"({"type": "object", "minProperties": 1})", true);
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Catch::StartsWith("s: Invalid value: {\"minProperties\":1,") &&
                           Catch::EndsWith("fields are allowed at the root of the schema if the "
                                           "status subresource is enabled"));
  CHECK(refused(R"({"type": "object", "minProperties": 1})").empty());
}

TEST_CASE("A schema in this project's style compiles") {
  const SchemaPtr schema = training_job_schema();
  const Schema* spec = schema->child("spec");
  REQUIRE(spec != nullptr);
  CHECK(spec->rules.size() == 3);
  CHECK(spec->child("template")->preserve_unknown);
  CHECK(spec->child("labels")->child("anything")->checks.max_length == 5);
  CHECK(spec->child("volumes")->list_map_keys == Lines{"name", "protocol"});
  CHECK(spec->child("nope") == nullptr);
}

TEST_CASE("The schema of a built-in kind follows references and cuts the recursive ones") {
  const Json schemas = Json::parse(R"json({
    "Pod": {"type": "object", "properties": {
      "spec": {"allOf": [{"$ref": "PodSpec"}], "default": {}},
      "raw": {"type": "object"}, "lost": {"$ref": "Missing"},
      "port": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]}}},
    "PodSpec": {"type": "object", "properties": {"containers": {"type": "array",
      "items": {"$ref": "Container"}, "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"], "x-kubernetes-patch-merge-key": "name",
      "x-kubernetes-patch-strategy": "merge"}, "again": {"$ref": "PodSpec"}}},
    "Container": {"type": "object", "properties": {"name": {"type": "string"}}}})json");
  const auto resolve = [&](std::string_view ref) -> const Json* {
    const auto found = schemas.find(ref);
    return found == schemas.end() ? nullptr : &*found;
  };
  const SchemaPtr pod = compile_builtin_schema(schemas["Pod"], resolve);
  const Schema* spec = pod->child("spec");
  REQUIRE(spec != nullptr);
  CHECK(spec->default_value == Json::object());
  CHECK(spec->child("again")->preserve_unknown);
  CHECK(spec->child("containers")->patch_merge_key == "name");
  CHECK(spec->child("containers")->patch_merge);
  CHECK(spec->child("containers")->items->child("name")->type == SchemaType::kString);
  CHECK(pod->child("raw")->preserve_unknown);
  CHECK(pod->child("lost")->preserve_unknown);
  CHECK(pod->child("port")->int_or_string);
}

}  // namespace amdahl::local
