#include "local/apiserver/schema/correlate.hpp"

#include "local/apiserver/schema/field_error.hpp"

namespace amdahl::local {

std::optional<std::string> list_map_key(const Schema& list, const Json& item) {
  if (!item.is_object()) return std::nullopt;
  std::string key;
  for (const std::string& name : list.list_map_keys) {
    const auto found = item.find(name);
    const Json* value = found == item.end() ? nullptr : &*found;
    if (value == nullptr && list.items != nullptr) {
      const auto child = list.items->properties.find(name);
      if (child != list.items->properties.end() && child->second->default_value) {
        value = &*child->second->default_value;
      }
    }
    key.append(value == nullptr || value->is_structured() ? "" : go_json(*value));
    key.push_back(',');
  }
  return key;
}

ListMapIndex::ListMapIndex(const Schema& list, const Json* items) : list_(list) {
  if (items == nullptr || !items->is_array() || list.list_type != ListType::kMap) return;
  for (const Json& item : *items) {
    if (auto key = list_map_key(list, item)) by_key_.emplace(std::move(*key), &item);
  }
}

const Json* ListMapIndex::find(const Json& item) const {
  if (by_key_.empty()) return nullptr;
  const auto key = list_map_key(list_, item);
  const auto found = key ? by_key_.find(*key) : by_key_.end();
  return found == by_key_.end() ? nullptr : found->second;
}

namespace {

bool unchanged_list(const Schema& schema, const Json& now, const Json& before) {
  if (now.size() != before.size()) return false;
  if (schema.list_type != ListType::kMap || schema.items == nullptr) return now == before;
  const ListMapIndex old(schema, &before);
  for (const Json& item : now) {
    const Json* match = old.find(item);
    if (match == nullptr || !unchanged(*schema.items, item, *match)) return false;
  }
  return true;
}

}  // namespace

bool unchanged(const Schema& schema, const Json& now, const Json& before) {
  if (now.is_array() && before.is_array()) return unchanged_list(schema, now, before);
  if (!now.is_object() || !before.is_object()) return now == before;
  if (now.size() != before.size()) return false;
  for (const auto& [key, value] : now.items()) {
    const Schema* child = schema.child(key);
    const auto old = before.find(key);
    if (child == nullptr || old == before.end() || !unchanged(*child, value, *old)) return false;
  }
  return true;
}

}  // namespace amdahl::local
