#include "local/apiserver/schema/schema_keywords.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "local/apiserver/schema/field_error.hpp"

namespace amdahl::local {
namespace {

enum class Shape : std::uint8_t {
  kText,
  kFlag,
  kNumber,
  kCount,
  kTexts,
  kSchema,
  kSchemas,
  kFields
};
struct Keyword {
  std::string_view name = {};
  Shape shape = Shape::kText;
};
constexpr std::array<Keyword, 36> kKeywords{{
    {"type", Shape::kText},
    {"format", Shape::kText},
    {"pattern", Shape::kText},
    {"title", Shape::kText},
    {"description", Shape::kText},
    {"id", Shape::kText},
    {"$ref", Shape::kText},
    {"$schema", Shape::kText},
    {"x-kubernetes-list-type", Shape::kText},
    {"x-kubernetes-map-type", Shape::kText},
    {"nullable", Shape::kFlag},
    {"uniqueItems", Shape::kFlag},
    {"exclusiveMinimum", Shape::kFlag},
    {"exclusiveMaximum", Shape::kFlag},
    {"x-kubernetes-preserve-unknown-fields", Shape::kFlag},
    {"x-kubernetes-embedded-resource", Shape::kFlag},
    {"x-kubernetes-int-or-string", Shape::kFlag},
    {"minimum", Shape::kNumber},
    {"maximum", Shape::kNumber},
    {"multipleOf", Shape::kNumber},
    {"minLength", Shape::kCount},
    {"maxLength", Shape::kCount},
    {"minItems", Shape::kCount},
    {"maxItems", Shape::kCount},
    {"minProperties", Shape::kCount},
    {"maxProperties", Shape::kCount},
    {"required", Shape::kTexts},
    {"x-kubernetes-list-map-keys", Shape::kTexts},
    {"not", Shape::kSchema},
    {"allOf", Shape::kSchemas},
    {"anyOf", Shape::kSchemas},
    {"oneOf", Shape::kSchemas},
    {"properties", Shape::kFields},
    {"patternProperties", Shape::kFields},
    {"definitions", Shape::kFields},
    {"dependencies", Shape::kFields},
}};

std::string_view wanted(Shape shape) {
  switch (shape) {
    case Shape::kText:
      return "must be a string";
    case Shape::kFlag:
      return "must be a boolean";
    case Shape::kNumber:
      return "must be a number";
    case Shape::kCount:
      return "must be an integer";
    case Shape::kTexts:
      return "must be an array of strings";
    case Shape::kSchema:
      return "must be a schema object";
    case Shape::kSchemas:
      return "must be an array of schema objects";
    case Shape::kFields:
      return "must be an object whose values are schema objects";
  }
  return {};
}

bool texts(const Json& value) {
  return value.is_array() &&
         std::ranges::all_of(value, [](const Json& item) { return item.is_string(); });
}

bool objects(const Json& value) {
  return std::ranges::all_of(value, [](const Json& item) { return item.is_object(); });
}

bool fits(Shape shape, const Json& value) {
  switch (shape) {
    case Shape::kText:
      return value.is_string();
    case Shape::kFlag:
      return value.is_boolean();
    case Shape::kNumber:
      return value.is_number();
    case Shape::kCount:
      return value.is_number_integer();
    case Shape::kTexts:
      return texts(value);
    case Shape::kSchema:
      return value.is_object();
    case Shape::kSchemas:
      return value.is_array() && objects(value);
    case Shape::kFields:
      return value.is_object() && objects(value);
  }
  return false;
}

class KeywordCheck {
 public:
  std::vector<Cause> causes = {};

  void node(const Json& schema, const std::string& path, int depth) {
    if (causes.size() >= kCausesMax) return;
    if (depth > kSchemaDepthMax) {
      too_big(path, fmt::format("must not nest deeper than {}", kSchemaDepthMax));
      return;
    }
    if (++nodes_ > kSchemaNodesMax) {
      if (nodes_ == kSchemaNodesMax + 1) {
        too_big(path, fmt::format("must not have more than {} nodes", kSchemaNodesMax));
      }
      return;
    }
    for (const Keyword& word : kKeywords) one(schema, word, path, depth);
    lists(schema, path, depth);
    rules(schema, path);
  }

 private:
  void too_big(const std::string& path, std::string_view detail) {
    causes.push_back(forbidden_cause(path, detail));
  }
  void wrong(const std::string& path, const Json& value, std::string_view detail) {
    // The value may be anything; showing its type is enough and cannot be large.
    causes.push_back(invalid_cause(path, value.type_name(), detail));
  }

  void one(const Json& schema, const Keyword& word, const std::string& path, int depth) {
    const Json* value = keyword(schema, word.name);
    if (value == nullptr) return;
    const std::string at = path_child(path, word.name);
    if (!fits(word.shape, *value)) {
      wrong(at, *value, wanted(word.shape));
    } else if (word.shape == Shape::kSchema) {
      node(*value, at, depth + 1);
    } else if (word.shape == Shape::kSchemas) {
      for (std::size_t i = 0; i < value->size(); ++i)
        node((*value)[i], path_index(at, i), depth + 1);
    } else if (word.shape == Shape::kFields) {
      for (const auto& [key, item] : value->items()) node(item, path_key(at, key), depth + 1);
    }
  }

  void lists(const Json& schema, const std::string& path, int depth) {
    if (const Json* values = keyword(schema, "enum"); values != nullptr && !values->is_array()) {
      wrong(path_child(path, "enum"), *values, "must be an array");
    }
    for (const std::string_view name : {"items", "additionalProperties", "additionalItems"}) {
      const Json* value = keyword(schema, name);
      if (value == nullptr) continue;
      const std::string at = path_child(path, name);
      if (value->is_object()) {
        node(*value, at, depth + 1);
      } else if (!(name == "items" ? value->is_array() && objects(*value) : value->is_boolean())) {
        wrong(at, *value, "must be a schema object");
      }
    }
  }

  void rules(const Json& schema, const std::string& path) {
    const Json* rules = keyword(schema, "x-kubernetes-validations");
    if (rules == nullptr) return;
    const std::string at = path_child(path, "x-kubernetes-validations");
    if (!rules->is_array() || !objects(*rules)) {
      wrong(at, *rules, "must be an array of objects");
      return;
    }
    rules_ += rules->size();
    if (rules_ > kSchemaRulesMax) too_big(at, fmt::format("more than {} rules", kSchemaRulesMax));
    for (std::size_t i = 0; i < rules->size(); ++i) rule((*rules)[i], path_index(at, i));
  }

  void rule(const Json& rule, const std::string& path) {
    for (const std::string_view name :
         {"rule", "message", "messageExpression", "reason", "fieldPath"}) {
      const Json* value = keyword(rule, name);
      if (value != nullptr && !value->is_string()) {
        wrong(path_child(path, name), *value, "must be a string");
      }
    }
    const Json* optional = keyword(rule, "optionalOldSelf");
    if (optional != nullptr && !optional->is_boolean()) {
      wrong(path_child(path, "optionalOldSelf"), *optional, "must be a boolean");
    }
  }

  std::size_t nodes_ = 0;
  std::size_t rules_ = 0;
};

}  // namespace

std::vector<Cause> check_keywords(const Json& schema, std::string_view prefix) {
  KeywordCheck check;
  if (!schema.is_object()) {
    return {invalid_cause(prefix, schema.type_name(), "must be a schema object")};
  }
  if (!nests_within(schema, kSchemaDepthMax * 4)) {
    return {forbidden_cause(prefix, fmt::format("must not nest deeper than {}", kSchemaDepthMax))};
  }
  check.node(schema, std::string(prefix), 0);
  return std::move(check.causes);
}

const Json* keyword(const Json& node, std::string_view name) {
  if (!node.is_object()) return nullptr;
  const auto found = node.find(name);
  return found == node.end() || found->is_null() ? nullptr : &*found;
}

std::string_view text_of(const Json& node, std::string_view name) {
  const Json* value = keyword(node, name);
  if (value == nullptr || !value->is_string()) return {};
  return value->get_ref<const std::string&>();
}

bool flag_of(const Json& node, std::string_view name) {
  const Json* value = keyword(node, name);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::vector<std::string> texts_of(const Json& node, std::string_view name) {
  std::vector<std::string> found;
  for (const Json& item : nodes_of(node, name)) {
    if (item.is_string()) found.push_back(item.get<std::string>());
  }
  return found;
}

const Json& nodes_of(const Json& node, std::string_view name) {
  static const Json empty = Json::array();
  const Json* value = keyword(node, name);
  return value != nullptr && value->is_array() ? *value : empty;
}

const Json& fields_of(const Json& node, std::string_view name) {
  static const Json empty = Json::object();
  const Json* value = keyword(node, name);
  return value != nullptr && value->is_object() ? *value : empty;
}

const Json* item_schema_of(const Json& node) {
  const Json* value = keyword(node, "items");
  return value != nullptr && value->is_object() ? value : nullptr;
}

const Json* other_schema_of(const Json& node) {
  const Json* value = keyword(node, "additionalProperties");
  return value != nullptr && value->is_object() ? value : nullptr;
}

std::string path_child(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

std::string path_key(std::string_view path, std::string_view key) {
  return fmt::format("{}[{}]", path, key);
}

std::string path_index(std::string_view path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}

}  // namespace amdahl::local
