// Structs into JSON through their field tables.
//
// required() and defaulted() fields are always written. optional() fields are left out when they
// are empty in Go's sense: no value, "", 0, false, the first enumerator, no items, or a nested
// table that writes nothing. To tell 0 from absent use std::optional. Failure: none.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/fields.hpp"

namespace amdahl {

template <class T>
Json encode(const T& value, const FieldRules& rules = {});

namespace json_detail {

template <class T>
bool is_empty(const T& value) {
  if constexpr (HasFieldCodec<T>)
    return FieldCodec<T>::is_empty(value);
  else if constexpr (std::same_as<T, Json>)
    return value.is_null() || (value.is_object() && value.empty());
  else if constexpr (OptionalField<T>)
    return !value.has_value();
  else if constexpr (std::same_as<T, WallTime> || std::is_arithmetic_v<T> || std::is_enum_v<T>)
    return value == T{};
  else if constexpr (HasFields<T>)
    return false;  // decided by what it writes
  else
    return value.empty();
}

struct WriteObject : FieldVisitor {
  Json object = Json::object();

  template <class T>
  void required(std::string_view name, T& member, const FieldRules& rules = {}) {
    object[std::string(name)] = encode(std::as_const(member), rules);
  }
  template <class T>
  void optional(std::string_view name, T& member, const FieldRules& rules = {}) {
    if (is_empty(member)) return;
    Json value = encode(std::as_const(member), rules);
    if constexpr (HasFields<T>)
      if (value.empty()) return;
    object[std::string(name)] = std::move(value);
  }
  template <class T, class D>
  void defaulted(std::string_view name, T& member, const D&, const FieldRules& rules = {}) {
    if (!is_unset(member)) required(name, member, rules);
  }

 private:
  template <class T>
  static bool is_unset(const T& member) {
    if constexpr (OptionalField<T>) return !member.has_value();
    return false;
  }
};

}  // namespace json_detail

template <class T>
Json encode(const T& value, const FieldRules& rules) {
  if constexpr (HasFieldCodec<T>) {
    return FieldCodec<T>::write(value);
  } else if constexpr (std::same_as<T, WallTime>) {
    return rules.micro_time ? format_micro_time(value) : format_time(value);
  } else if constexpr (OptionalField<T>) {
    return value ? encode(*value, rules) : Json(nullptr);
  } else if constexpr (NamedEnum<T>) {
    return std::string(enum_name(value));
  } else if constexpr (ListField<T>) {
    Json list = Json::array();
    for (const auto& item : value)
      list.push_back(encode(static_cast<const typename T::value_type&>(item), rules));
    return list;
  } else if constexpr (MapField<T>) {
    Json map = Json::object();
    for (const auto& [key, item] : value) map[key] = encode(item, rules);
    return map;
  } else if constexpr (std::same_as<T, PackedMap>) {
    Json map = Json::object();
    for (const auto& [key, text] : value) map[std::string(key)] = std::string(text);
    return map;
  } else if constexpr (HasFields<T>) {
    json_detail::WriteObject writer;
    fields(writer, const_cast<T&>(value));  // a table only names members
    return std::move(writer.object);
  } else {
    return value;
  }
}

}  // namespace amdahl
