#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "local/apiserver/schema/field_error.hpp"
#include "local/apiserver/schema/schema_checks.hpp"
#include "local/apiserver/schema/schema_keywords.hpp"

namespace amdahl::local {
namespace {

class ListTypeCheck {
 public:
  explicit ListTypeCheck(std::vector<Cause>& causes) : causes_(causes) {}

  void node(const Json& schema, const std::string& path) {
    map_type(schema, path);
    list_type(schema, path);
    list_map(schema, path);
    list_items(schema, path);
  }

 private:
  void required(const std::string& path, std::string_view detail) {
    causes_.push_back(required_cause(path, detail));
  }
  void forbidden(const std::string& path, std::string_view detail) {
    causes_.push_back(forbidden_cause(path, detail));
  }
  void invalid(const std::string& path, const Json& value, std::string_view detail) {
    causes_.push_back(invalid_cause(path, value, detail));
  }
  void unsupported(const std::string& path, const Json& value, std::vector<std::string> names) {
    causes_.push_back(not_supported_cause(path, value, names));
  }

  void needs_type(const Json& schema, const std::string& path, std::string_view keyword_name,
                  std::string_view wanted) {
    const std::string_view type = text_of(schema, "type");
    const std::string rule = fmt::format("must be {} if {} is specified", wanted, keyword_name);
    if (type.empty()) required(path_child(path, "type"), rule);
    if (!type.empty()) invalid(path_child(path, "type"), type, rule);
  }

  void map_type(const Json& schema, const std::string& path) {
    constexpr std::string_view kName = "x-kubernetes-map-type";
    if (keyword(schema, kName) == nullptr) return;
    if (text_of(schema, "type") != "object") needs_type(schema, path, kName, "object");
    const std::string_view type = text_of(schema, kName);
    if (type != "atomic" && type != "granular") {
      unsupported(path_child(path, kName), type, {"atomic", "granular"});
    }
  }

  void list_type(const Json& schema, const std::string& path) {
    constexpr std::string_view kName = "x-kubernetes-list-type";
    const std::string at = path_child(path, kName);
    const bool has_keys = !nodes_of(schema, "x-kubernetes-list-map-keys").empty();
    constexpr std::string_view kKeysRule = "must be map if x-kubernetes-list-map-keys is non-empty";
    if (keyword(schema, kName) == nullptr) {
      if (has_keys) required(at, kKeysRule);
      return;
    }
    const std::string_view type = text_of(schema, kName);
    if (text_of(schema, "type") != "array") {
      needs_type(schema, path, kName, "array");
    } else if (const Json* items = item_schema_of(schema); type == "set" && items != nullptr) {
      set_items(*items, path_child(path, "items"));
    }
    if (type != "atomic" && type != "set" && type != "map") {
      unsupported(at, type, {"atomic", "set", "map"});
    }
    if (has_keys && type != "map") invalid(at, type, kKeysRule);
  }

  void set_items(const Json& items, const std::string& path) {
    constexpr std::string_view kRule =
        "must be atomic as item of a list with x-kubernetes-list-type=set";
    const std::string_view type = text_of(items, "type");
    const Json* list = keyword(items, "x-kubernetes-list-type");
    if (type == "array" && list != nullptr && *list != "atomic") {
      invalid(path_child(path, "x-kubernetes-list-type"), *list, kRule);
    }
    if (type == "object" && text_of(items, "x-kubernetes-map-type") != "atomic") {
      invalid(path_child(path, "x-kubernetes-map-type"), list == nullptr ? Json() : *list, kRule);
    }
  }

  void list_map(const Json& schema, const std::string& path) {
    if (text_of(schema, "x-kubernetes-list-type") != "map") return;
    const std::string keys_path = path_child(path, "x-kubernetes-list-map-keys");
    const auto keys = texts_of(schema, "x-kubernetes-list-map-keys");
    if (keys.empty()) required(keys_path, "must not be empty if x-kubernetes-list-type is map");
    const std::string items_path = path_child(path, "items");
    const Json* items = item_schema_of(schema);
    if (keyword(schema, "items") == nullptr) {
      required(items_path, "must have a schema if x-kubernetes-list-type is map");
    }
    if (items == nullptr) return;
    const std::string_view type = text_of(*items, "type");
    if (type != "object") {
      invalid(path_child(items_path, "type"), type,
              "must be object if parent array's x-kubernetes-list-type is map");
      return;
    }
    std::set<std::string> seen;
    for (const std::string& key : keys) {
      const Json* field = keyword(fields_of(*items, "properties"), key);
      const std::string_view kind = field == nullptr ? "" : text_of(*field, "type");
      if (field == nullptr) {
        invalid(keys_path, keys, "entries must all be names of item properties");
      } else if (kind == "array" || kind == "object") {
        invalid(path_child(path_key(path_child(items_path, "properties"), key), "type"), type,
                "must be a scalar type if parent array's x-kubernetes-list-type is map");
      }
      if (!seen.insert(key).second) invalid(keys_path, keys, "must not contain duplicate entries");
    }
  }

  void list_items(const Json& schema, const std::string& path) {
    const std::string_view type = text_of(schema, "x-kubernetes-list-type");
    const Json* items = item_schema_of(schema);
    if (items == nullptr || (type != "set" && type != "map")) return;
    const std::string at = path_child(path, "items");
    if (flag_of(*items, "nullable")) {
      forbidden(path_child(at, "nullable"),
                fmt::format("cannot be nullable when x-kubernetes-list-type is {}", type));
    }
    if (type != "map") return;
    const auto must = texts_of(*items, "required");
    for (const std::string& key : texts_of(schema, "x-kubernetes-list-map-keys")) {
      const Json* field = keyword(fields_of(*items, "properties"), key);
      if (field == nullptr) continue;
      const std::string field_path = path_key(path_child(at, "properties"), key);
      if (std::ranges::find(must, key) == must.end() && keyword(*field, "default") == nullptr) {
        required(
            path_child(field_path, "default"),
            "this property is in x-kubernetes-list-map-keys, so it must have a default or be a "
            "required property");
      }
      if (flag_of(*field, "nullable")) {
        forbidden(path_child(field_path, "nullable"),
                  "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
      }
    }
  }

  std::vector<Cause>& causes_;
};

}  // namespace

void check_list_types(const Json& schema, const std::string& path, std::vector<Cause>& causes) {
  ListTypeCheck(causes).node(schema, path);
}

}  // namespace amdahl::local
