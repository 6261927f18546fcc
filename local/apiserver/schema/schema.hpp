// A structural OpenAPI v3 schema as CustomResourceDefinitions have it, compiled once and then only
// read: by prune(), apply_defaults(), validate() and merge_shape_of().
//
// Immutable once compiled; shared between threads. A node is never part of a cycle: where the
// schema of a built-in kind refers to itself, the inner place keeps unknown fields. Failure:
// compile_crd_schema() gives every reason a kube-apiserver would give for refusing the CRD.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "local/apiserver/model/cause.hpp"
#include "local/apiserver/schema/format.hpp"
#include "local/apiserver/schema/pattern.hpp"

namespace amdahl::local {

using Json = nlohmann::json;

struct Schema;
using SchemaPtr = std::shared_ptr<const Schema>;
namespace cel {
struct Rule;
}  // namespace cel
using RulePtr = std::shared_ptr<const cel::Rule>;

inline constexpr int kSchemaDepthMax = 64;
inline constexpr std::size_t kSchemaNodesMax = 100'000;
inline constexpr std::size_t kSchemaRulesMax = 1'000;  // in one CRD version
inline constexpr std::size_t kCausesMax = 1'000;       // what one answer lists

enum class SchemaType : std::uint8_t {
  kNone,
  kArray,
  kBoolean,
  kInteger,
  kNumber,
  kObject,
  kString,
};
std::string_view name(SchemaType type);  // "object"; "" for kNone

enum class ListType : std::uint8_t { kUnset, kAtomic, kSet, kMap };
enum class MapType : std::uint8_t { kUnset, kAtomic, kGranular };
enum class OtherKeys : std::uint8_t {
  kUndeclared,  // no additionalProperties: unknown fields are dropped
  kForbidden,   // additionalProperties: false
  kAllowed,     // additionalProperties: true, or a schema
};

// What a value has to satisfy beyond its shape.
struct ValueChecks {
  Format format = Format::kNone;
  std::string format_name = {};
  std::optional<double> minimum = {};
  std::optional<double> maximum = {};
  bool exclusive_minimum = false;
  bool exclusive_maximum = false;
  std::optional<double> multiple_of = {};
  std::optional<std::int64_t> min_length = {};  // code points
  std::optional<std::int64_t> max_length = {};
  PatternPtr pattern = {};
  std::optional<std::int64_t> min_items = {};
  std::optional<std::int64_t> max_items = {};
  bool unique_items = false;
  std::optional<std::int64_t> min_properties = {};
  std::optional<std::int64_t> max_properties = {};
  std::vector<std::string> required = {};
  std::vector<Json> one_value_of = {};         // enum, in the order of the schema
  std::vector<Json> one_value_of_sorted = {};  // the same, to look up
  std::vector<SchemaPtr> all_of = {};
  std::vector<SchemaPtr> any_of = {};
  std::vector<SchemaPtr> one_of = {};
  SchemaPtr none_of = {};  // not
};

struct Schema {
  SchemaType type = SchemaType::kNone;
  bool nullable = false;
  bool preserve_unknown = false;
  bool int_or_string = false;
  bool embedded_resource = false;
  bool rules_inside = false;     // here or below
  bool defaults_inside = false;  // here or below
  bool lists_inside = false;     // a set or a map list is here or below
  bool embedded_inside = false;  // an embedded resource is here or below
  std::optional<Json> default_value = {};
  std::map<std::string, SchemaPtr, std::less<>> properties = {};
  OtherKeys other_keys = OtherKeys::kUndeclared;
  SchemaPtr other = {};  // of values under any other key; may be null with kAllowed
  SchemaPtr items = {};
  ListType list_type = ListType::kUnset;
  std::vector<std::string> list_map_keys = {};
  MapType map_type = MapType::kUnset;
  ValueChecks checks = {};
  std::vector<RulePtr> rules = {};
  // Strategic merge; only the schemas of built-in kinds say it.
  std::string patch_merge_key = {};
  bool patch_merge = false;
  bool patch_retain_keys = false;

  // The schema of the value under `key`, or null when nothing is known about it.
  const Schema* child(std::string_view key) const;
};

struct CrdSchemaOptions {
  // The field that holds the schema: "spec.versions[0].schema.openAPIV3Schema", or
  // "spec.validation.openAPIV3Schema" where all versions share one schema.
  std::string prefix = "spec.validation.openAPIV3Schema";
  bool status_subresource = false;
};

struct CompiledSchema {
  SchemaPtr schema = {};           // null when there are causes
  std::vector<Cause> causes = {};  // at most kCausesMax
};

CompiledSchema compile_crd_schema(const Json& schema, const CrdSchemaOptions& options);

// The schema of a built-in kind, as in Kubernetes' OpenAPI v3: not held to the rules for CRDs.
// `resolve` gives what a $ref names, or null. What cannot be understood keeps unknown fields.
using RefResolver = std::function<const Json*(std::string_view ref)>;
SchemaPtr compile_builtin_schema(const Json& schema, const RefResolver& resolve);

// Whether a value nests less deep than `max`; iterative, so it may be asked of anything.
bool nests_within(const Json& value, int max);
inline constexpr int kObjectDepthMax = 200;

}  // namespace amdahl::local
