#include "local/apiserver/schema/defaults.hpp"

namespace amdahl::local {
namespace {

bool is_forbidden_null(const Json& value, const Schema& schema) {
  return value.is_null() && !schema.nullable;
}

// The ones with a default stay: filling in comes next.
void drop_nulls(const Schema& schema, Json& json) {
  if (json.is_object()) {
    for (auto at = json.begin(); at != json.end();) {
      const Schema* child = schema.child(at.key());
      if (child != nullptr && is_forbidden_null(at.value(), *child) && !child->default_value) {
        at = json.erase(at);
        continue;
      }
      if (child != nullptr) drop_nulls(*child, at.value());
      ++at;
    }
  } else if (json.is_array() && schema.items != nullptr) {
    for (Json& item : json) drop_nulls(*schema.items, item);
  }
}

void fill(const Schema& schema, Json& json);

void fill_object(const Schema& schema, Json& json) {
  for (const auto& [key, child] : schema.properties) {
    if (!child->default_value) continue;
    const auto found = json.find(key);
    if (found == json.end()) {
      json.emplace(key, *child->default_value);
    } else if (is_forbidden_null(*found, *child)) {
      *found = *child->default_value;
    }
  }
  for (auto& [key, value] : json.items()) {
    const Schema* child = schema.child(key);
    if (child == nullptr) continue;
    if (is_forbidden_null(value, *child) && child->default_value) value = *child->default_value;
    fill(*child, value);
  }
}

// Depth is the schema's: what it does not describe is not looked into.
void fill(const Schema& schema, Json& json) {
  if (!schema.defaults_inside) return;
  if (json.is_object()) {
    fill_object(schema, json);
  } else if (json.is_array() && schema.items != nullptr) {
    for (Json& item : json) {
      if (is_forbidden_null(item, *schema.items) && schema.items->default_value) {
        item = *schema.items->default_value;
      }
      fill(*schema.items, item);
    }
  }
}

}  // namespace

void apply_defaults(const Schema& schema, Json& object) {
  drop_nulls(schema, object);
  fill(schema, object);
}

}  // namespace amdahl::local
