#include "local/apiserver/schema/schema_read.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "local/apiserver/schema/cel/rule.hpp"
#include "local/apiserver/schema/schema_keywords.hpp"

namespace amdahl::local {
namespace {

SchemaType type_named(std::string_view text) {
  for (const SchemaType type : {SchemaType::kArray, SchemaType::kBoolean, SchemaType::kInteger,
                                SchemaType::kNumber, SchemaType::kObject, SchemaType::kString}) {
    if (name(type) == text) return type;
  }
  return SchemaType::kNone;
}

std::optional<double> number_of(const Json& node, std::string_view name) {
  const Json* value = keyword(node, name);
  return value != nullptr && value->is_number() ? std::optional(value->get<double>())
                                                : std::nullopt;
}

std::optional<std::int64_t> count_of(const Json& node, std::string_view name) {
  const Json* value = keyword(node, name);
  return value != nullptr && value->is_number_integer() ? std::optional(value->get<std::int64_t>())
                                                        : std::nullopt;
}

void read_checks(const Json& schema, ValueChecks& checks) {
  checks.format_name = text_of(schema, "format");
  checks.format = format_named(checks.format_name);
  checks.minimum = number_of(schema, "minimum");
  checks.maximum = number_of(schema, "maximum");
  checks.exclusive_minimum = flag_of(schema, "exclusiveMinimum");
  checks.exclusive_maximum = flag_of(schema, "exclusiveMaximum");
  checks.multiple_of = number_of(schema, "multipleOf");
  checks.min_length = count_of(schema, "minLength");
  checks.max_length = count_of(schema, "maxLength");
  checks.min_items = count_of(schema, "minItems");
  checks.max_items = count_of(schema, "maxItems");
  checks.unique_items = flag_of(schema, "uniqueItems");
  checks.min_properties = count_of(schema, "minProperties");
  checks.max_properties = count_of(schema, "maxProperties");
  checks.required = texts_of(schema, "required");
  if (const std::string_view text = text_of(schema, "pattern"); !text.empty()) {
    if (auto pattern = Pattern::compile(text)) checks.pattern = std::move(*pattern);
  }
  for (const Json& value : nodes_of(schema, "enum")) checks.one_value_of.push_back(value);
  checks.one_value_of_sorted = checks.one_value_of;
  std::ranges::sort(checks.one_value_of_sorted);
}

struct Where {
  int depth = 0;
  bool resource_root = false;
  bool nested = false;  // below a junctor: value validations only
};

SchemaPtr read_node(const Json& schema, const Where& where);

void read_children(const Json& schema, const Where& where, Schema& node) {
  const Where below{.depth = where.depth + 1, .nested = where.nested};
  for (const auto& [key, field] : fields_of(schema, "properties").items()) {
    node.properties.emplace(key, read_node(field, below));
  }
  if (const Json* items = item_schema_of(schema)) node.items = read_node(*items, below);
  if (const Json* other = other_schema_of(schema)) node.other = read_node(*other, below);
  const Where junctor{.depth = where.depth + 1, .nested = true};
  const auto list = [&](std::string_view keyword_name, std::vector<SchemaPtr>& out) {
    for (const Json& item : nodes_of(schema, keyword_name)) out.push_back(read_node(item, junctor));
  };
  list("allOf", node.checks.all_of);
  list("anyOf", node.checks.any_of);
  list("oneOf", node.checks.one_of);
  if (const Json* no = keyword(schema, "not")) node.checks.none_of = read_node(*no, junctor);
}

SchemaPtr read_node(const Json& schema, const Where& where) {
  AMDAHL_CHECK(where.depth <= kSchemaDepthMax);
  auto node = std::make_shared<Schema>();
  read_plain_keywords(schema, *node);
  read_children(schema, where, *node);
  if (!where.nested) {
    for (const Json& rule : nodes_of(schema, "x-kubernetes-validations")) {
      node->rules.push_back(
          cel::compile_rule(rule, schema, *node, where.resource_root || node->embedded_resource));
    }
  }
  note_what_is_inside(*node);
  return node;
}

}  // namespace

void read_plain_keywords(const Json& schema, Schema& node) {
  node.type = type_named(text_of(schema, "type"));
  node.nullable = flag_of(schema, "nullable");
  node.preserve_unknown = flag_of(schema, "x-kubernetes-preserve-unknown-fields");
  node.int_or_string = flag_of(schema, "x-kubernetes-int-or-string");
  node.embedded_resource = flag_of(schema, "x-kubernetes-embedded-resource");
  if (const Json* value = keyword(schema, "default")) node.default_value = *value;
  if (const Json* others = keyword(schema, "additionalProperties")) {
    node.other_keys = *others == Json(false) ? OtherKeys::kForbidden : OtherKeys::kAllowed;
  }
  const std::string_view list = text_of(schema, "x-kubernetes-list-type");
  node.list_type = list == "map"      ? ListType::kMap
                   : list == "set"    ? ListType::kSet
                   : list == "atomic" ? ListType::kAtomic
                                      : ListType::kUnset;
  const std::string_view map = text_of(schema, "x-kubernetes-map-type");
  node.map_type = map == "atomic"     ? MapType::kAtomic
                  : map == "granular" ? MapType::kGranular
                                      : MapType::kUnset;
  node.list_map_keys = texts_of(schema, "x-kubernetes-list-map-keys");
  read_checks(schema, node.checks);
}

void note_what_is_inside(Schema& node) {
  node.rules_inside = !node.rules.empty();
  node.defaults_inside = node.default_value.has_value();
  node.lists_inside = node.list_type == ListType::kMap || node.list_type == ListType::kSet;
  node.embedded_inside = node.embedded_resource;
  const auto add = [&node](const SchemaPtr& child) {
    if (child == nullptr) return;
    node.rules_inside = node.rules_inside || child->rules_inside;
    node.defaults_inside = node.defaults_inside || child->defaults_inside;
    node.lists_inside = node.lists_inside || child->lists_inside;
    node.embedded_inside = node.embedded_inside || child->embedded_inside;
  };
  for (const auto& [key, child] : node.properties) add(child);
  add(node.other);
  add(node.items);
}

SchemaPtr read_crd_schema(const Json& schema) {
  return read_node(schema, Where{.resource_root = true});
}

}  // namespace amdahl::local
