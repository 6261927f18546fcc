// Kubernetes protobuf into structs through their field tables: fields with a .wire number.
//
// Everything else on the wire is skipped without being looked at (L15). Absent defaulted fields get
// their default, absent required ones are an error: Kubernetes always sends those. An empty Time
// message is Go's zero time and counts as absent. Failure: see wire_reader.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/fields.hpp"
#include "base/result.hpp"
#include "base/wire_reader.hpp"

namespace amdahl {

// Fills a fresh object, or adds to one. False: refused, and the reason is recorded in the walk.
template <class T>
bool read_wire_value(const WireValue& from, T& into);

namespace wire_detail {

bool read_time(const WireValue& from, WallTime& into);
bool read_map_entry(const WireValue& from, PackedMap::Builder& into);
bool reject_enum(const WireValue& from, std::string_view found, std::string_view choices);
bool reject_missing(WireWalk& walk, std::string_view name, std::uint32_t number);

template <class T>
inline constexpr bool is_time =
    std::same_as<T, WallTime> || std::same_as<T, std::optional<WallTime>>;

// Offers one field on the wire to every field of a table.
struct MatchField : FieldVisitor {
  const WireValue& value;
  WireMessage rest;  // what follows the value, for maps
  std::uint64_t& seen;
  unsigned index = 0;
  bool ok = true;

  MatchField(const WireValue& found, WireMessage after, std::uint64_t& seen_fields)
      : value(found), rest(after), seen(seen_fields) {}

  template <class T>
  [[gnu::always_inline]] void required(std::string_view, T& member, const FieldRules& rules = {}) {
    offer(rules.wire, member);
  }
  template <class T>
  [[gnu::always_inline]] void optional(std::string_view, T& member, const FieldRules& rules = {}) {
    offer(rules.wire, member);
  }
  template <class T, class D>
  [[gnu::always_inline]] void defaulted(std::string_view, T& member, const D&,
                                        const FieldRules& rules = {}) {
    offer(rules.wire, member);
  }

 private:
  template <class T>
  [[gnu::always_inline]] void offer(std::uint32_t number, T& member) {
    const unsigned bit = index++;
    if (number == value.field) [[unlikely]]
      take(std::uint64_t{1} << bit, member);
  }
  template <class T>
  [[gnu::noinline]] void take(std::uint64_t bit, T& member) {
    if constexpr (is_time<T>)
      if (value.type == WireType::kBytes && value.payload.empty()) return;
    const bool again = (seen & bit) != 0;
    seen |= bit;
    if constexpr (std::same_as<T, PackedMap>) {
      if (!again) ok = take_map(member);  // the first entry brought all others with it
    } else {
      if constexpr (ListField<T>)
        if (!again) member.reserve(1 + count_more());
      // A fault further on is found again, with its own path, by who walks the message.
      if (!value.walk->failed()) ok = read_wire_value(value, member);
    }
  }
  // How many items of the same list follow, so that it allocates once and exactly.
  std::size_t count_more() {
    std::size_t count = 0;
    WireValue item;
    while (rest.next(item)) count += item.field == value.field ? 1 : 0;
    return count;
  }
  // A packed map is built once, so its entries are gathered from the rest of the message.
  bool take_map(PackedMap& member) {
    PackedMap::Builder builder;
    if (!read_map_entry(value, builder)) return false;
    WireValue entry;
    while (rest.next(entry))
      if (entry.field == value.field && !read_map_entry(entry, builder)) return false;
    member = builder.build();
    return true;  // a fault further on is reported by who walks the message
  }
};

struct FinishMessage : FieldVisitor {
  WireWalk& walk;
  std::uint64_t seen;
  unsigned index = 0;
  bool ok = true;

  FinishMessage(WireWalk& message_walk, std::uint64_t seen_fields)
      : walk(message_walk), seen(seen_fields) {}

  bool absent() { return ((seen >> index++) & 1U) == 0; }
  template <class T>
  void required(std::string_view name, T&, const FieldRules& rules = {}) {
    if (absent() && rules.wire != 0 && ok) ok = reject_missing(walk, name, rules.wire);
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
bool read_table(std::string_view bytes, WireWalk& walk, T& into) {
  static_assert(field_count<T> <= kTableFieldsMax, "split the table: presence is one 64-bit mask");
  if (!walk.enter()) return false;
  std::uint64_t seen = 0;
  WireMessage message(bytes, walk);
  WireValue value;
  while (message.next(value)) {
    MatchField match(value, message, seen);
    fields(match, into);
    if (!match.ok) return walk.in_field(value.field);
  }
  if (walk.failed()) return false;
  walk.leave();
  FinishMessage finish(walk, seen);
  fields(finish, into);
  return finish.ok;
}

template <NamedEnum E>
bool read_enum(const WireValue& from, E& into) {
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
bool read_integer(const WireValue& from, T& into) {
  const auto number = from.integer();
  if (!number) return false;
  if (!std::in_range<T>(*number)) return from.reject("integer out of range");
  into = static_cast<T>(*number);
  return true;
}

// map<string, T> is a repeated message {1: key, 2: value}.
template <class T>
bool read_map(const WireValue& from, std::map<std::string, T>& into) {
  const auto bytes = from.bytes();
  if (!bytes) return false;
  WireMessage entry(*bytes, *from.walk);
  WireValue part;
  std::string_view key;
  T item{};
  while (entry.next(part)) {
    if (part.field == 1) {
      const auto text = part.string();
      if (!text) return from.walk->in_field(1);
      key = *text;
    } else if (part.field == 2 && !read_wire_value(part, item)) {
      return from.walk->in_field(2);
    }
  }
  if (from.walk->failed()) return false;
  into.insert_or_assign(std::string(key), std::move(item));
  return true;
}

template <class T>
bool read_scalar(const WireValue& from, T& into) {
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

template <OptionalField T>
bool read_optional(const WireValue& from, T& into) {
  if (!into) into.emplace();
  return read_wire_value(from, *into);
}

}  // namespace wire_detail

template <class T>
bool read_wire_value(const WireValue& from, T& into) {
  if constexpr (HasFieldCodec<T>) {
    if constexpr (requires { FieldCodec<T>::read_wire(from, into); })
      return FieldCodec<T>::read_wire(from, into);
    else
      return from.reject("this type has no protobuf form");
  } else if constexpr (std::same_as<T, bool> || std::same_as<T, double> ||
                       std::same_as<T, std::string>) {
    return wire_detail::read_scalar(from, into);
  } else if constexpr (IntegerField<T>) {
    return wire_detail::read_integer(from, into);
  } else if constexpr (std::same_as<T, WallTime>) {
    return wire_detail::read_time(from, into);
  } else if constexpr (OptionalField<T>) {
    return wire_detail::read_optional(from, into);
  } else if constexpr (ListField<T>) {
    return read_wire_value(from, into.emplace_back());
  } else if constexpr (MapField<T>) {
    return wire_detail::read_map(from, into);
  } else if constexpr (NamedEnum<T>) {
    return wire_detail::read_enum(from, into);
  } else if constexpr (std::same_as<T, Json>) {
    return from.reject("free-form values have no protobuf form");
  } else {
    static_assert(HasFields<T>, "not a type that a field table can hold");
    const auto bytes = from.bytes();
    return bytes && wire_detail::read_table(*bytes, *from.walk, into);
  }
}

// The message of one object, without the Kubernetes envelope (operator/kube/wire_envelope.hpp).
template <HasFields T>
Result<void> read_wire(std::string_view bytes, T& into) {
  WireWalk walk;
  if (!wire_detail::read_table(bytes, walk, into)) return std::unexpected(walk.error());
  return {};
}

template <HasFields T>
Result<T> decode_wire(std::string_view bytes) {
  T object{};
  TRY(read_wire(bytes, object));
  return object;
}

}  // namespace amdahl
