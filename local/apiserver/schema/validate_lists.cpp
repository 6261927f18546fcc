#include <fmt/format.h>

#include <map>

#include "local/apiserver/schema/field_error.hpp"
#include "local/apiserver/schema/schema_keywords.hpp"
#include "local/apiserver/schema/validate.hpp"

namespace amdahl::local {
namespace {

class ListValidator {
 public:
  std::vector<Cause> causes = {};

  void value(const Schema& schema, const Json& json, const std::string& path) {
    if (!schema.lists_inside || causes.size() >= kCausesMax) return;
    if (json.is_array()) {
      if (schema.list_type == ListType::kSet) set(json, path);
      if (schema.list_type == ListType::kMap) map(schema, json, path);
      if (schema.items == nullptr || !schema.items->lists_inside) return;
      for (std::size_t i = 0; i < json.size(); ++i) {
        value(*schema.items, json[i], path_index(path, i));
      }
    } else if (json.is_object()) {
      for (const auto& [key, item] : json.items()) {
        const auto known = schema.properties.find(key);
        if (known != schema.properties.end()) {
          value(*known->second, item, path_child(path, key));
        } else if (schema.other != nullptr) {
          value(*schema.other, item, path_key(path, key));
        }
      }
    }
  }

 private:
  void duplicate(const std::string& path, std::size_t index, const Json& value) {
    if (causes.size() < kCausesMax)
      causes.push_back(duplicate_cause(path_index(path, index), value));
  }

  // The second of equal items is named, further ones are not.
  void set(const Json& list, const std::string& path) {
    std::map<Json, int> seen;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (++seen[list[i]] == 2) duplicate(path, i, list[i]);
    }
  }

  void map(const Schema& schema, const Json& list, const std::string& path) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].is_object() || list[i].is_null()) continue;
      causes.push_back(invalid_cause(path_index(path, i), list[i],
                                     "must be an object for an array of list-type map"));
      return;
    }
    std::map<Json, int> seen;
    for (std::size_t i = 0; i < list.size(); ++i) {
      Json key = Json::object();
      for (const std::string& name : schema.list_map_keys) {
        if (!list[i].is_object()) continue;
        if (const auto found = list[i].find(name); found != list[i].end()) key[name] = *found;
      }
      if (++seen[key] == 2) duplicate(path, i, key);
    }
  }
};

class EmbeddedValidator {
 public:
  std::vector<Cause> causes = {};

  void value(const Schema& schema, const Json& json, const std::string& path) {
    if (!schema.embedded_inside || causes.size() >= kCausesMax) return;
    if (json.is_array() && schema.items != nullptr) {
      for (std::size_t i = 0; i < json.size(); ++i) {
        value(*schema.items, json[i], path_index(path, i));
      }
    }
    if (!json.is_object()) return;
    if (schema.embedded_resource) {
      text(json, path, "apiVersion");
      text(json, path, "kind");
    }
    for (const auto& [key, item] : json.items()) {
      const auto known = schema.properties.find(key);
      if (known != schema.properties.end()) {
        value(*known->second, item, path_child(path, key));
      } else if (schema.other != nullptr) {
        value(*schema.other, item, path_key(path, key));
      }
    }
  }

 private:
  void text(const Json& json, const std::string& path, std::string_view name) {
    const std::string at = path_child(path, name);
    const auto found = json.find(name);
    if (found == json.end()) {
      causes.push_back(required_cause(at, {}));
    } else if (!found->is_string()) {
      causes.push_back(invalid_cause(at, *found, "must be a string"));
    } else if (found->get_ref<const std::string&>().empty()) {
      causes.push_back(invalid_cause(at, *found, "must not be empty"));
    }
  }
};

}  // namespace

std::vector<Cause> validate_lists(const Validation& input) {
  ListValidator validator;
  validator.value(input.schema, input.now, input.path);
  return std::move(validator.causes);
}

std::vector<Cause> validate_embedded(const Validation& input) {
  EmbeddedValidator validator;
  validator.value(input.schema, input.now, input.path);
  return std::move(validator.causes);
}

}  // namespace amdahl::local
