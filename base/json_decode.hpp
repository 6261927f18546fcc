// JSON into structs through their field tables, in one pass and without a tree.
//
// Keys that no table names are skipped unparsed (L15), null counts as absent, of a repeated key the
// last one stays, and absent defaulted fields get their default. Failure: see json_reader.hpp; the
// text begins with the path, as in "spec.containers[2].name: expected a string, found a number".
#pragma once

#include <fmt/format.h>

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "base/clock.hpp"
#include "base/fields.hpp"
#include "base/json_reader.hpp"
#include "base/result.hpp"

namespace amdahl {

// Fills a fresh object. False: refused, and the reason is recorded in the reader.
template <class T>
bool read_json(JsonValue& from, T& into);

namespace json_detail {

bool read_time(JsonValue& from, WallTime& into);
bool read_packed_map(JsonValue& from, PackedMap& into);
bool reject_enum(JsonValue& from, std::string_view found, std::string_view choices);

// Offers one member of an object to every field of its table.
struct MatchMember : FieldVisitor {
  std::string_view key;
  JsonValue& value;
  std::uint64_t& seen;
  unsigned index = 0;
  bool ok = true;

  MatchMember(std::string_view member_key, JsonValue& member_value, std::uint64_t& seen_fields)
      : key(member_key), value(member_value), seen(seen_fields) {}

  template <class T>
  [[gnu::always_inline]] void required(std::string_view name, T& member, const FieldRules& = {}) {
    offer(name, member);
  }
  template <class T>
  [[gnu::always_inline]] void optional(std::string_view name, T& member, const FieldRules& = {}) {
    offer(name, member);
  }
  template <class T, class D>
  [[gnu::always_inline]] void defaulted(std::string_view name, T& member, const D&,
                                        const FieldRules& = {}) {
    offer(name, member);
  }

 private:
  template <class T>
  [[gnu::always_inline]] void offer(std::string_view name, T& member) {
    const unsigned bit = index++;
    if (name == key) [[unlikely]]
      take(std::uint64_t{1} << bit, member);
  }
  template <class T>
  [[gnu::noinline]] void take(std::uint64_t bit, T& member) {
    if ((seen & bit) != 0) member = T{};  // of a repeated key the last one stays
    seen &= ~bit;
    if (value.is_null()) return;
    seen |= bit;
    ok = read_json(value, member);
  }
};

// Runs after the last member: what is required must be there, what is defaulted gets its default.
struct FinishObject : FieldVisitor {
  JsonValue& object;
  std::uint64_t seen;
  unsigned index = 0;
  bool ok = true;

  FinishObject(JsonValue& read_object, std::uint64_t seen_fields)
      : object(read_object), seen(seen_fields) {}

  bool absent() { return ((seen >> index++) & 1U) == 0; }
  template <class T>
  void required(std::string_view name, T&, const FieldRules& = {}) {
    if (absent() && ok) ok = object.reject_member(name, "required field is missing");
  }
  template <class T>
  void optional(std::string_view, T& member, const FieldRules& = {}) {
    const bool missing = absent();
    if constexpr (HasFields<T>)
      if (missing) apply_defaults(member);
  }
  template <class T, class D>
  void defaulted(std::string_view, T& member, const D& fallback, const FieldRules& = {}) {
    if (absent()) assign_default(member, fallback);
  }
};

template <HasFields T>
bool read_table(JsonValue& from, T& into) {
  static_assert(field_count<T> <= kTableFieldsMax, "split the table: presence is one 64-bit mask");
  std::uint64_t seen = 0;
  const bool ok = from.for_each_member([&](std::string_view key, JsonValue& value) {
    MatchMember match(key, value, seen);
    fields(match, into);
    return match.ok;
  });
  if (!ok) return false;
  FinishObject finish(from, seen);
  fields(finish, into);
  AMDAHL_CHECK(finish.index <= kTableFieldsMax);
  return finish.ok;
}

template <NamedEnum E>
bool read_enum(JsonValue& from, E& into) {
  const auto text = from.string();
  if (!text) return false;
  if (const auto value = parse_enum<E>(*text)) {
    into = *value;
    return true;
  }
  if constexpr (OpenEnum<E>) {
    into = enum_unknown(E{});
    return true;
  } else {
    return reject_enum(from, *text, enum_choices<E>());
  }
}

template <IntegerField T>
bool read_integer(JsonValue& from, T& into) {
  const auto number = from.integer();
  if (!number) return false;
  if (!std::in_range<T>(*number)) return from.reject("integer out of range");
  into = static_cast<T>(*number);
  return true;
}

// Items are gathered on the stack first, so that the list allocates once and exactly.
template <class T>
bool read_list(JsonValue& from, std::vector<T>& into) {
  constexpr std::size_t kStackBytes = 1024;
  constexpr std::size_t kStackItems = sizeof(T) < kStackBytes / 2 ? kStackBytes / sizeof(T) : 2;
  boost::container::small_vector<T, kStackItems> items;
  const bool ok = from.for_each_element(
      [&](JsonValue& element) { return read_json(element, items.emplace_back()); });
  if (ok) into.assign(std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
  return ok;
}

template <class T>
bool read_map(JsonValue& from, std::map<std::string, T>& into) {
  into.clear();
  return from.for_each_member([&](std::string_view key, JsonValue& value) {
    T item{};
    if (!read_json(value, item)) return false;
    into.insert_or_assign(std::string(key), std::move(item));
    return true;
  });
}

template <class T>
bool read_scalar(JsonValue& from, T& into) {
  const auto value = [&] {
    if constexpr (std::same_as<T, bool>)
      return from.boolean();
    else if constexpr (std::same_as<T, double>)
      return from.number();
    else
      return from.string();
  }();
  if (!value) return false;
  into = *value;
  return true;
}

}  // namespace json_detail

template <class T>
bool read_json(JsonValue& from, T& into) {
  if constexpr (HasFieldCodec<T>)
    return FieldCodec<T>::read(from, into);
  else if constexpr (std::same_as<T, bool> || std::same_as<T, double> ||
                     std::same_as<T, std::string>)
    return json_detail::read_scalar(from, into);
  else if constexpr (IntegerField<T>)
    return json_detail::read_integer(from, into);
  else if constexpr (std::same_as<T, WallTime>)
    return json_detail::read_time(from, into);
  else if constexpr (std::same_as<T, PackedMap>)
    return json_detail::read_packed_map(from, into);
  else if constexpr (std::same_as<T, Json>)
    return from.json(into);
  else if constexpr (OptionalField<T>)
    return read_json(from, into.emplace());
  else if constexpr (ListField<T>)
    return json_detail::read_list(from, into);
  else if constexpr (MapField<T>)
    return json_detail::read_map(from, into);
  else if constexpr (NamedEnum<T>)
    return json_detail::read_enum(from, into);
  else {
    static_assert(HasFields<T>, "not a type that a field table can hold");
    return json_detail::read_table(from, into);
  }
}

// One object. The reader is for callers with many: it keeps its buffers.
template <class T>
Result<T> decode(JsonReader& reader, std::string_view text) {
  T object{};
  TRY(reader.read(text, [&](JsonValue& root) { return read_json(root, object); }));
  return object;
}

template <class T>
Result<T> decode(std::string_view text) {
  JsonReader reader;
  return decode<T>(reader, text);
}

}  // namespace amdahl
