#include "local/apiserver/schema/schema.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "local/apiserver/schema/field_error.hpp"
#include "local/apiserver/schema/schema_checks.hpp"
#include "local/apiserver/schema/schema_keywords.hpp"
#include "local/apiserver/schema/schema_read.hpp"

namespace amdahl::local {
namespace {

constexpr std::array<std::string_view, 21> kNotAtRootWithStatus{"id",
                                                                "$schema",
                                                                "$ref",
                                                                "nullable",
                                                                "default",
                                                                "enum",
                                                                "maxProperties",
                                                                "minProperties",
                                                                "allOf",
                                                                "oneOf",
                                                                "anyOf",
                                                                "not",
                                                                "additionalProperties",
                                                                "patternProperties",
                                                                "dependencies",
                                                                "definitions",
                                                                "x-kubernetes-embedded-resource",
                                                                "x-kubernetes-int-or-string",
                                                                "x-kubernetes-list-map-keys",
                                                                "x-kubernetes-list-type",
                                                                "x-kubernetes-map-type"};
constexpr std::string_view kOnlyTheseAtRoot =
    "only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum "
    "MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items "
    "Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at "
    "the root of the schema if the status subresource is enabled";

void append(std::vector<Cause>& causes, std::vector<Cause> more) {
  for (Cause& cause : more) {
    if (causes.size() < kCausesMax) causes.push_back(std::move(cause));
  }
}

}  // namespace

std::string_view name(SchemaType type) {
  switch (type) {
    case SchemaType::kNone:
      return "";
    case SchemaType::kArray:
      return "array";
    case SchemaType::kBoolean:
      return "boolean";
    case SchemaType::kInteger:
      return "integer";
    case SchemaType::kNumber:
      return "number";
    case SchemaType::kObject:
      return "object";
    case SchemaType::kString:
      return "string";
  }
  return "";
}

const Schema* Schema::child(std::string_view key) const {
  if (const auto found = properties.find(key); found != properties.end()) {
    return found->second.get();
  }
  return other.get();
}

std::vector<Cause> check_root(const Json& schema, const CrdSchemaOptions& options) {
  std::vector<Cause> causes;
  const std::string_view type = text_of(schema, "type");
  if (options.status_subresource && !type.empty() && type != "object") {
    causes.push_back(invalid_cause(path_child(options.prefix, "type"), type,
                                   "only \"object\" is allowed as the type at the root of the "
                                   "schema if the status subresource is enabled"));
  }
  for (const std::string_view word : kNotAtRootWithStatus) {
    const Json* value = keyword(schema, word);
    if (!options.status_subresource || value == nullptr || *value == Json(false)) continue;
    causes.push_back(invalid_cause(options.prefix, schema, kOnlyTheseAtRoot));
    break;
  }
  if (flag_of(schema, "nullable")) {
    causes.push_back(forbidden_cause(path_child(options.prefix, "nullable"),
                                     "nullable cannot be true at the root"));
  }
  return causes;
}

CompiledSchema compile_crd_schema(const Json& schema, const CrdSchemaOptions& options) {
  CompiledSchema result;
  result.causes = check_keywords(schema, options.prefix);
  if (!result.causes.empty()) return result;
  result.causes = check_root(schema, options);
  auto structural = check_structural(schema, options.prefix);
  SchemaPtr compiled;
  if (structural.empty()) {
    compiled = read_crd_schema(schema);
    // Rules inside a schema with bad defaults are not looked into, as in Kubernetes.
    structural = check_defaults(*compiled, options.prefix);
  }
  const bool look_into_rules = structural.empty();
  append(result.causes, std::move(structural));
  append(result.causes, check_openapi(schema, look_into_rules ? compiled.get() : nullptr, options));
  if (result.causes.empty()) result.schema = std::move(compiled);
  return result;
}

bool nests_within(const Json& value, int max) {
  std::vector<std::pair<const Json*, int>> open{{&value, 0}};
  while (!open.empty()) {
    const auto [json, depth] = open.back();
    open.pop_back();
    if (!json->is_structured()) continue;
    if (depth >= max) return false;
    for (const Json& child : *json) {
      if (child.is_structured()) open.emplace_back(&child, depth + 1);
    }
  }
  return true;
}

}  // namespace amdahl::local
