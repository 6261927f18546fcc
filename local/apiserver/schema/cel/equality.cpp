#include <map>
#include <set>

#include "local/apiserver/schema/cel/value.hpp"
#include "local/apiserver/schema/correlate.hpp"

namespace amdahl::local::cel {
namespace {

// Compares plain JSON; every node costs a step. Its depth was bounded before rules ran.
Result<bool> same_json(const Json& a, const Json& b, Steps& steps) {
  if (!steps.take()) return too_costly();
  if (a.is_string() && b.is_string()) {
    if (!steps.take(a.get_ref<const std::string&>().size() / 64)) return too_costly();
    return a == b;
  }
  if (a.is_array() && b.is_array()) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      TRY(const bool same, same_json(a[i], b[i], steps));
      if (!same) return false;
    }
    return true;
  }
  if (!a.is_object() || !b.is_object()) return a == b;
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.items()) {
    const auto other = b.find(key);
    if (other == b.end()) return false;
    TRY(const bool same, same_json(value, *other, steps));
    if (!same) return false;
  }
  return true;
}

const Json* json_of(const Value& value) {
  const auto* view = value.as<JsonView>();
  return view == nullptr ? nullptr : view->json;
}

Result<bool> equal_views(const JsonView& a, const JsonView& b, Steps& steps) {
  if (a.json->size() != b.json->size()) return false;
  const Value left{a};
  const Value right{b};
  for (const auto& [name, value] : a.json->items()) {
    const Value key{field_name(a, name)};
    TRY(auto mine, map_find(left, key));
    TRY(auto other, map_find(right, key));
    if (mine || other) {
      if (!mine || !other) return false;
      TRY(const bool same, equal(*mine, *other, steps));
      if (!same) return false;
      continue;
    }
    // A field the schema leaves open: a kube-apiserver compares it only where both have it.
    const auto open = b.json->find(name);
    if (open == b.json->end()) continue;
    TRY(const bool same, same_json(value, *open, steps));
    if (!same) return false;
  }
  return true;
}

Result<bool> equal_maps(const Value& a, const Value& b, Steps& steps) {
  const auto* left = a.as<JsonView>();
  const auto* right = b.as<JsonView>();
  if (left != nullptr && right != nullptr) return equal_views(*left, *right, steps);
  if (map_size(a) != map_size(b)) return false;
  TRY(const List keys, map_keys(a));
  for (const Value& key : keys) {
    TRY(auto mine, map_find(a, key));
    TRY(auto other, map_find(b, key));
    if (!mine || !other) return false;
    TRY(const bool same, equal(*mine, *other, steps));
    if (!same) return false;
  }
  return true;
}

// The order of a list map does not count: items are found by their keys.
Result<bool> equal_list_maps(const JsonView& a, const JsonView& b, Steps& steps) {
  const ListMapIndex index(*a.schema, a.json);
  const Schema* items = a.schema->items.get();
  for (const Json& item : *b.json) {
    if (!steps.take(4)) return too_costly();
    const Json* match = index.find(item);
    if (match == nullptr) return false;
    TRY(const bool same,
        equal(Value{JsonView{match, items}}, Value{JsonView{&item, items}}, steps));
    if (!same) return false;
  }
  return true;
}

Result<bool> equal_lists(const Value& a, const Value& b, Steps& steps) {
  const std::size_t size = list_size(a);
  if (size != list_size(b)) return false;
  const auto* left = a.as<JsonView>();
  const Json* right = json_of(b);
  const bool typed = left != nullptr && left->schema != nullptr && right != nullptr;
  if (typed && left->schema->list_type == ListType::kMap) {
    return equal_list_maps(*left, *b.as<JsonView>(), steps);
  }
  if (typed && left->schema->list_type == ListType::kSet) {
    if (!steps.take(size * 4)) return too_costly();
    const std::set<Json> mine(left->json->begin(), left->json->end());
    return std::ranges::all_of(*right, [&](const Json& item) { return mine.contains(item); });
  }
  for (std::size_t i = 0; i < size; ++i) {
    TRY(const Value x, list_item(a, i));
    TRY(const Value y, list_item(b, i));
    TRY(const bool same, equal(x, y, steps));
    if (!same) return false;
  }
  return true;
}

bool is_number(const Value& value) {
  return value.as<std::int64_t>() != nullptr || value.as<std::uint64_t>() != nullptr ||
         value.as<double>() != nullptr;
}

}  // namespace

Result<bool> equal(const Value& a, const Value& b, Steps& steps) {
  if (!steps.take()) return too_costly();
  if (a.is_list() && b.is_list()) return equal_lists(a, b, steps);
  if (a.is_map() && b.is_map()) return equal_maps(a, b, steps);
  if (is_number(a) && is_number(b)) {
    const auto order = compare(a, b);
    return order && *order == 0;  // NaN equals nothing
  }
  if (a.data.index() != b.data.index()) return false;
  if (a.as<Null>() != nullptr) return true;
  if (const auto* type = a.as<TypeName>()) return *type == *b.as<TypeName>();
  if (const auto* optional = a.as<Optional>()) {
    const auto& other = b.as<Optional>()->value;
    if (optional->value == nullptr || other == nullptr) return optional->value == other;
    return equal(*optional->value, *other, steps);
  }
  if (const auto* text = a.as<std::string>(); text != nullptr && !steps.take(text->size() / 64)) {
    return too_costly();
  }
  const auto order = compare(a, b);
  return order && *order == 0;
}

}  // namespace amdahl::local::cel
