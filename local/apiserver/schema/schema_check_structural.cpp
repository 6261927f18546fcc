#include <fmt/format.h>

#include <algorithm>

#include "local/apiserver/schema/field_error.hpp"
#include "local/apiserver/schema/schema_checks.hpp"
#include "local/apiserver/schema/schema_keywords.hpp"

namespace amdahl::local {
namespace {

enum class Level : std::uint8_t { kRoot, kItem, kField };

// Go's zero values cannot be told from absent ones.
bool is_set(const Json& node, std::string_view name) {
  const Json* value = keyword(node, name);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_string() || value->is_array() || value->is_object()) {
    return value->is_string() ? !text_of(node, name).empty() : !value->empty();
  }
  return true;
}

// anyOf: [{type: integer}, {type: string}], the one place where a junctor may say a type.
bool says_int_or_string(const Json& node) {
  const Json& any = nodes_of(node, "anyOf");
  const auto only_type = [](const Json& item, std::string_view type) {
    return item.size() == 1 && text_of(item, "type") == type;
  };
  return any.size() == 2 && only_type(any[0], "integer") && only_type(any[1], "string");
}

struct Nested {
  std::string_view keyword = {};
  std::string_view rule = {};
};
constexpr std::array<Nested, 11> kNotInJunctors{{
    {"type", "must be empty to be structural"},
    {"default", "must be undefined to be structural"},
    {"title", "must be empty to be structural"},
    {"description", "must be empty to be structural"},
    {"nullable", "must be false to be structural"},
    {"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
    {"x-kubernetes-embedded-resource", "must be false to be structural"},
    {"x-kubernetes-int-or-string", "must be false to be structural"},
    {"x-kubernetes-list-map-keys", "must be empty to be structural"},
    {"x-kubernetes-list-type", "must be undefined to be structural"},
    {"x-kubernetes-map-type", "must be undefined to be structural"},
}};

// A value node, the structural node it speaks about, and where both are.
struct Pair {
  const Json& value;
  const Json* structural = nullptr;
  std::string structural_path = {};
  std::string value_path = {};
};

class StructuralCheck {
 public:
  std::vector<Cause> causes = {};

  void node(const Json& schema, Level level, const std::string& path) {
    if (causes.size() >= kCausesMax) return;
    const std::string_view type = text_of(schema, "type");
    const Json* items = item_schema_of(schema);
    if (type == "array" && items == nullptr) required(path, "items", "must be specified");
    if (items != nullptr) node(*items, Level::kItem, path_child(path, "items"));
    const std::string properties = path_child(path, "properties");
    for (const auto& [key, field] : fields_of(schema, "properties").items()) {
      node(field, Level::kField, path_key(properties, key));
    }
    const std::string others = path_child(path, "additionalProperties");
    const bool has_others = keyword(schema, "additionalProperties") != nullptr;
    if (has_others && level == Level::kRoot) forbidden(others, "must not be used at the root");
    if (const Json* other = other_schema_of(schema)) node(*other, Level::kField, others);
    extensions(schema, path);
    const Json& all = nodes_of(schema, "allOf");
    junctors(schema, says_int_or_string(schema), !all.empty() && says_int_or_string(all[0]), path);
    types(schema, level, path);
    metadata(schema, level, path);
    embedded(schema, has_others, path);
  }

  // Only what the root's own junctors say is looked at, as in Kubernetes.
  void complete(const Pair& pair) {
    if (causes.size() >= kCausesMax) return;
    if (const Json* no = keyword(pair.value, "not")) complete_nested(*no, pair, "not");
    for (const std::string_view name : {"allOf", "anyOf", "oneOf"}) {
      const Json& list = nodes_of(pair.value, name);
      for (std::size_t i = 0; i < list.size(); ++i) {
        complete_nested(list[i], pair, fmt::format("{}[{}]", name, i));
      }
    }
  }

 private:
  void required(const std::string& path, std::string_view child, std::string_view detail) {
    causes.push_back(required_cause(path_child(path, child), detail));
  }
  void forbidden(const std::string& path, std::string_view detail) {
    causes.push_back(forbidden_cause(path, detail));
  }
  void invalid(const std::string& path, std::string_view child, const Json& value,
               std::string_view detail) {
    causes.push_back(invalid_cause(path_child(path, child), value, detail));
  }

  void extensions(const Json& schema, const std::string& path) {
    if (!flag_of(schema, "x-kubernetes-int-or-string")) return;
    for (const std::string_view name :
         {"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"}) {
      if (!flag_of(schema, name)) continue;
      invalid(path, name, true, "must be false if x-kubernetes-int-or-string is true");
    }
  }

  void types(const Json& schema, Level level, const std::string& path) {
    const std::string_view type = text_of(schema, "type");
    if (flag_of(schema, "x-kubernetes-embedded-resource") && type != "object") {
      constexpr std::string_view kRule = "must be object if x-kubernetes-embedded-resource is true";
      if (type.empty()) required(path, "type", kRule);
      if (!type.empty()) invalid(path, "type", type, kRule);
    } else if (type.empty() && !flag_of(schema, "x-kubernetes-int-or-string") &&
               !flag_of(schema, "x-kubernetes-preserve-unknown-fields")) {
      required(path, "type",
               level == Level::kRoot   ? "must not be empty at the root"
               : level == Level::kItem ? "must not be empty for specified array items"
                                       : "must not be empty for specified object fields");
    }
    if (level == Level::kRoot && !type.empty() && type != "object") {
      invalid(path, "type", type, "must be object at the root");
    }
  }

  void metadata(const Json& schema, Level level, const std::string& path) {
    const bool is_resource =
        level == Level::kRoot || flag_of(schema, "x-kubernetes-embedded-resource");
    const std::string properties = path_child(path, "properties");
    const Json& fields = fields_of(schema, "properties");
    for (const std::string_view name : {"kind", "apiVersion"}) {
      const Json* field = keyword(fields, name);
      if (!is_resource || field == nullptr || text_of(*field, "type") == "string") continue;
      invalid(path_key(properties, name), "type", text_of(*field, "type"), "must be string");
    }
    const Json* meta = keyword(fields, "metadata");
    if (meta == nullptr) return;
    const std::string at = path_key(properties, "metadata");
    if (is_resource && text_of(*meta, "type") != "object") {
      invalid(at, "type", text_of(*meta, "type"), "must be object");
    }
    if (level == Level::kRoot && says_more_than_names(*meta)) {
      forbidden(at,
                "must not specify anything other than name and generateName, but metadata is "
                "implicitly specified");
    }
  }

  static bool says_more_than_names(const Json& meta) {
    for (const auto& [key, value] : meta.items()) {
      if (key != "type" && key != "default" && key != "properties" && is_set(meta, key))
        return true;
    }
    return std::ranges::any_of(fields_of(meta, "properties").items(), [](const auto& field) {
      return field.key() != "name" && field.key() != "generateName";
    });
  }

  void embedded(const Json& schema, bool has_others, const std::string& path) {
    if (!flag_of(schema, "x-kubernetes-embedded-resource")) return;
    if (has_others) {
      forbidden(path_child(path, "additionalProperties"),
                "must not be used if x-kubernetes-embedded-resource is set");
    }
    if (!flag_of(schema, "x-kubernetes-preserve-unknown-fields") &&
        fields_of(schema, "properties").empty()) {
      required(path, "properties",
               "must not be empty if x-kubernetes-embedded-resource is true without "
               "x-kubernetes-preserve-unknown-fields");
    }
  }

  void junctors(const Json& schema, bool skip_any, bool skip_any_of_first,
                const std::string& path) {
    const auto list = [&](std::string_view name, bool skip_first_any) {
      const Json& nodes = nodes_of(schema, name);
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        nested(nodes[i], skip_first_any && i == 0, path_index(path_child(path, name), i));
      }
    };
    if (!skip_any) list("anyOf", false);
    list("allOf", skip_any_of_first);
    list("oneOf", false);
    if (const Json* no = keyword(schema, "not")) nested(*no, false, path_child(path, "not"));
    if (const std::string_view pattern = text_of(schema, "pattern"); !pattern.empty()) {
      const auto compiled = Pattern::compile(pattern);
      if (compiled) return;
      invalid(path, "pattern", pattern,
              "must be a valid regular expression, but isn't: " + compiled.error().context);
    }
  }

  void nested(const Json& schema, bool skip_any, const std::string& path) {
    if (causes.size() >= kCausesMax) return;
    junctors(schema, skip_any, false, path);
    if (const Json* items = item_schema_of(schema))
      nested(*items, false, path_child(path, "items"));
    const std::string properties = path_child(path, "properties");
    for (const auto& [key, field] : fields_of(schema, "properties").items()) {
      nested(field, false, path_key(properties, key));
    }
    const Json* others = keyword(schema, "additionalProperties");
    if (others != nullptr && *others != Json(false)) {
      forbidden(path_child(path, "additionalProperties"), "must be undefined to be structural");
    }
    for (const auto& [name, rule] : kNotInJunctors) {
      const bool said = name == "default" ? keyword(schema, name) != nullptr : is_set(schema, name);
      if (said) forbidden(path_child(path, name), rule);
    }
    if (!nodes_of(schema, "x-kubernetes-validations").empty()) {
      forbidden(path_child(path, "x-kubernetes-validations"), "must be empty to be structural");
    }
    if (fields_of(schema, "properties").contains("metadata")) {
      forbidden(path_key(properties, "metadata"), "must not be specified in a nested context");
    }
  }

  void complete_nested(const Json& value, const Pair& outer, std::string_view step) {
    complete_value(
        Pair{value, outer.structural, outer.structural_path, path_child(outer.value_path, step)});
  }

  void complete_value(const Pair& pair) {
    if (pair.structural == nullptr) {
      causes.push_back(
          required_cause(pair.structural_path, "because it is defined in " + pair.value_path));
      return;
    }
    complete(pair);
    if (const Json* items = item_schema_of(pair.value)) {
      complete_value(Pair{*items, item_schema_of(*pair.structural),
                          path_child(pair.structural_path, "items"),
                          path_child(pair.value_path, "items")});
    }
    const Json& known = fields_of(*pair.structural, "properties");
    for (const auto& [key, field] : fields_of(pair.value, "properties").items()) {
      complete_value(Pair{field, keyword(known, key),
                          path_key(path_child(pair.structural_path, "properties"), key),
                          path_key(path_child(pair.value_path, "properties"), key)});
    }
  }
};

}  // namespace

std::vector<Cause> check_structural(const Json& schema, const std::string& prefix) {
  StructuralCheck check;
  check.node(schema, Level::kRoot, prefix);
  check.complete(Pair{schema, &schema, prefix, prefix});
  std::ranges::sort(check.causes, [](const Cause& a, const Cause& b) {
    const int order = (a.field + ": ").compare(b.field + ": ");
    return order != 0 ? order < 0 : a.message < b.message;
  });
  return std::move(check.causes);
}

}  // namespace amdahl::local
