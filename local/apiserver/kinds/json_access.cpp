#include "local/apiserver/kinds/json_access.hpp"

#include <utility>

namespace amdahl::local {

// Iterators of Json ask at every step what they iterate over; this is called too often for that.
const Json* member(const Json& object, std::string_view name) {
  const auto* const members = object.get_ptr<const Json::object_t*>();
  if (members == nullptr) return nullptr;
  const auto found = members->find(name);
  return found == members->end() || found->second.is_null() ? nullptr : &found->second;
}

Json* member(Json& object, std::string_view name) {
  auto* const members = object.get_ptr<Json::object_t*>();
  if (members == nullptr) return nullptr;
  const auto found = members->find(name);
  return found == members->end() || found->second.is_null() ? nullptr : &found->second;
}

const Json* at(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* value = &object;
  for (const std::string_view name : path) {
    value = member(*value, name);
    if (value == nullptr) return nullptr;
  }
  return value;
}

std::string text_at(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* value = at(object, path);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::optional<std::int64_t> number_at(const Json& object,
                                      std::initializer_list<std::string_view> path) {
  const Json* value = at(object, path);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  return value->get<std::int64_t>();
}

bool flag_at(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* value = at(object, path);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

const Json& list_at(const Json& object, std::initializer_list<std::string_view> path) {
  static const Json empty = Json::array();
  const Json* value = at(object, path);
  return value != nullptr && value->is_array() ? *value : empty;
}

const Json& map_at(const Json& object, std::initializer_list<std::string_view> path) {
  static const Json empty = Json::object();
  const Json* value = at(object, path);
  return value != nullptr && value->is_object() ? *value : empty;
}

void set_default(Json& object, std::string_view name, Json value) {
  if (object.is_object() && member(object, name) == nullptr) {
    object[std::string(name)] = std::move(value);
  }
}

Json* make_object(Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  Json& value = object[std::string(name)];
  if (value.is_null()) value = Json::object();
  return value.is_object() ? &value : nullptr;
}

}  // namespace amdahl::local
