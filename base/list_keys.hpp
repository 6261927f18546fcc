// Lists of named items (FieldRules::list_map_key): an API server takes each key once.
//
// Pure. Failure: none.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/each_field.hpp"

namespace amdahl {

// The item's key as text.
template <HasFields T>
std::string list_key(const T& item, std::string_view key) {
  std::string text;
  const auto read = [&]<class M>(std::string_view name, M& member, const FieldRules& /*rules*/) {
    if (name != key) return;
    if constexpr (std::same_as<M, std::string>)
      text = member;
    else if constexpr (IntegerField<M>)
      text = std::to_string(member);
    else if constexpr (NamedEnum<M>)
      text = enum_name(member);
  };
  each_field(const_cast<T&>(item), read);  // a table only names members
  return text;
}

// The first item whose key an earlier one has.
template <ListField List>
std::optional<std::size_t> repeated_key(const List& list, std::string_view key) {
  std::unordered_set<std::string> seen;
  for (const auto& item : list)
    if (!seen.insert(list_key(item, key)).second) return seen.size();
  return std::nullopt;
}

// Of items with one key the last stays, at its place.
template <ListField List>
void keep_last_of_each_key(List& list, std::string_view key) {
  if (!repeated_key(list, key)) return;
  std::unordered_set<std::string> later;
  std::vector<bool> stays(list.size());
  for (std::size_t i = list.size(); i-- > 0;)
    stays[i] = later.insert(list_key(list[i], key)).second;
  std::size_t i = 0;
  std::erase_if(list, [&](const auto& /*item*/) { return !stays[i++]; });
}

}  // namespace amdahl
