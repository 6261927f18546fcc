// Field tables: one function per type says what its fields are called and what they may hold.
//
//   template <class V>
//   constexpr void fields(V& v, LeaseSpec& spec) {
//     v.optional("holderIdentity", spec.holder, {.doc = "Who holds it.", .wire = 1});
//     v.defaulted("leaseDurationSeconds", spec.duration_seconds, 15, {.min = 1, .wire = 2});
//   }
//
// It is found by argument-dependent lookup, so it stands beside its type. The visitors are the
// JSON reader (json_decode.hpp), the JSON writer (json_encode.hpp), the reader of Kubernetes'
// protobuf (wire_decode.hpp), validation (validate.hpp), the CRD schema and the reference page
// (schema.hpp). Visitors that only read an object take it const and cast that away to call the
// table; a table therefore only names members and never assigns them.
//
// A member may be bool, an integer of 32 or 64 bits (not uint64), double, std::string, WallTime,
// an enum with enum_names(), Json (kept as it is), PackedMap, another table, any type with a
// FieldCodec (Text has one), or std::optional, Boxed, std::vector or std::map<std::string, ...>
// of these.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/boxed.hpp"
#include "base/clock.hpp"
#include "base/packed_map.hpp"

namespace amdahl {

using Json = nlohmann::json;

inline constexpr unsigned kTableFieldsMax = 64;

// A rule the API server evaluates, in its Common Expression Language.
struct CelRule {
  std::string_view rule = {};
  std::string_view message = {};
  std::string_view field = {};  // ".nodes": the part that is blamed; empty: the value itself
};

// What is known of a field beyond its name and type. Zero or empty means no such rule. Of a list or
// map, the rules for numbers and strings hold for each item.
struct FieldRules {
  std::string_view doc = {};
  std::uint32_t wire = 0;  // protobuf field number; 0: the field exists in JSON only
  std::optional<std::int64_t> min = std::nullopt;  // of a number; of a Duration in seconds
  std::optional<std::int64_t> max = std::nullopt;
  std::uint32_t length_min = 0;  // of a string, in code points
  std::uint32_t length_max = 0;
  std::uint32_t items_min = 0;  // of a list or map
  std::uint32_t items_max = 0;
  std::string_view pattern = {};       // of a string; anchored by the author
  std::string_view format = {};        // overrides the schema's format
  std::string_view list_map_key = {};  // list of named items, merged by this key
  bool list_set = false;               // list of distinct scalars
  bool immutable = false;              // once set it stays
  bool micro_time = false;             // WallTime written with microseconds
  bool any_type = false;               // Json: not only an object
  std::span<const CelRule> cel = {};   // further rules on this field
};

// enum class Phase { kPending, kRunning };
// constexpr auto enum_names(Phase) {
//   return std::to_array<EnumName<Phase>>({{Phase::kPending, "Pending"}, ...});
// }
// Beside it may stand `constexpr Phase enum_unknown(Phase)`: what a name we do not know is read as.
// Without it such a name is an error. Use it for enums that others may extend.
template <class E>
struct EnumName {
  E value = {};
  std::string_view name = {};
};

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E value) { enum_names(value); };
template <class E>
concept OpenEnum = NamedEnum<E> && requires(E value) {
  { enum_unknown(value) } -> std::same_as<E>;
};

template <NamedEnum E>
constexpr std::string_view enum_name(E value) {
  for (const auto& entry : enum_names(E{}))
    if (entry.value == value) return entry.name;
  return "";
}

template <NamedEnum E>
constexpr std::optional<E> parse_enum(std::string_view name) {
  for (const auto& entry : enum_names(E{}))
    if (entry.name == name) return entry.value;
  return std::nullopt;
}

// "one of A, B, C", for messages.
template <NamedEnum E>
std::string enum_choices() {
  std::string text;
  for (const auto& entry : enum_names(E{})) {
    if (!text.empty()) text += ", ";
    text += entry.name;
  }
  return "one of " + text;
}

// Specialise for a type that is neither a table nor built in:
//   static bool read(JsonValue& from, T& into);            false after from.reject(...)
//   static Json write(const T& value);
//   static bool read_wire(const WireValue& from, T& into); optional, false after from.reject(...)
//   static void describe(Json& schema);                    fills type, format, x-kubernetes-...
//   static std::string_view type_name();                   for the reference page
//   static bool is_empty(const T& value);                  whether optional() leaves it out
// A type that gives FieldRules::min and max a meaning of its own takes them as second argument of
// describe() and first of type_name(), and says what is wrong with a value:
//   static std::string fault(const T& value, const FieldRules& rules);  empty: nothing
template <class T>
struct FieldCodec;

namespace fields_detail {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsOptional<Boxed<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsStringMap : std::false_type {};
template <class T>
struct IsStringMap<std::map<std::string, T>> : std::true_type {};

// Stands for any visitor when asking whether a type has a table.
struct AnyVisitor {
  template <class T>
  constexpr void required(std::string_view, T&, const FieldRules& = {}) {}
  template <class T>
  constexpr void optional(std::string_view, T&, const FieldRules& = {}) {}
  template <class T, class D>
  constexpr void defaulted(std::string_view, T&, const D&, const FieldRules& = {}) {}
  constexpr void rule(const CelRule&) {}
};

}  // namespace fields_detail

template <class T>
concept HasFields =
    requires(fields_detail::AnyVisitor& visitor, T& object) { fields(visitor, object); };
template <class T>
concept HasFieldCodec = requires { sizeof(FieldCodec<T>); };
template <class T>
concept OptionalField = fields_detail::IsOptional<T>::value;
template <class T>
concept ListField = fields_detail::IsVector<T>::value;
template <class T>
concept MapField = fields_detail::IsStringMap<T>::value;
template <class T>
concept IntegerField = std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> ||
                       std::same_as<T, std::uint32_t>;

// Visitors for whom a table's own rules mean nothing derive from this.
struct FieldVisitor {
  // A CEL rule on the whole object, such as one that compares two fields or old with new.
  constexpr void rule(const CelRule& /*rule*/) {}
};

template <class T, class D>
constexpr void assign_default(T& member, const D& fallback) {
  if constexpr (OptionalField<T>)
    member = static_cast<typename T::value_type>(fallback);
  else
    member = static_cast<T>(fallback);
}

namespace fields_detail {

struct AssignDefaults : FieldVisitor {
  template <class T>
  constexpr void descend(T& member) {
    if constexpr (HasFields<T>) fields(*this, member);
  }
  template <class T>
  constexpr void required(std::string_view, T& member, const FieldRules& = {}) {
    descend(member);
  }
  template <class T>
  constexpr void optional(std::string_view, T& member, const FieldRules& = {}) {
    descend(member);
  }
  template <class T, class D>
  constexpr void defaulted(std::string_view, T& member, const D& fallback, const FieldRules& = {}) {
    assign_default(member, fallback);
  }
};

struct WireCheck : FieldVisitor {
  unsigned count = 0;
  bool all = true;
  constexpr void see(const FieldRules& rules) {
    ++count;
    all = all && rules.wire != 0;
  }
  template <class T>
  constexpr void required(std::string_view, T&, const FieldRules& rules = {}) {
    see(rules);
  }
  template <class T>
  constexpr void optional(std::string_view, T&, const FieldRules& rules = {}) {
    see(rules);
  }
  template <class T, class D>
  constexpr void defaulted(std::string_view, T&, const D&, const FieldRules& rules = {}) {
    see(rules);
  }
};

// An object nobody makes: a table only takes references to its members, which is possible at
// compile time even where the object does not live.
template <class T>
union Imaginary {
  char nothing = 0;
  T object;
  constexpr Imaginary() {}
  constexpr ~Imaginary() {}
};
template <HasFields T>
constexpr WireCheck look_at_table() {
  Imaginary<T> imaginary;
  WireCheck check;
  fields(check, imaginary.object);
  return check;
}

template <class T>
concept ConstexprTable =
    HasFields<T> && requires { typename std::bool_constant<(look_at_table<T>().count, true)>; };

}  // namespace fields_detail

// Gives every defaulted field of a fresh object its default, also in nested tables that are plain
// members. The JSON reader does this by itself for what is absent.
template <HasFields T>
constexpr void apply_defaults(T& object) {
  fields_detail::AssignDefaults defaults;
  fields(defaults, object);
}

// Whether T may be asked for as protobuf: every field of its own table has a wire number. A table
// must be constexpr to qualify.
template <class T>
constexpr bool has_wire = [] {
  if constexpr (fields_detail::ConstexprTable<T>) return fields_detail::look_at_table<T>().all;
  return false;
}();

// The number of fields in a constexpr table; 0 when the table is not constexpr.
template <HasFields T>
constexpr unsigned field_count = [] {
  if constexpr (fields_detail::ConstexprTable<T>) return fields_detail::look_at_table<T>().count;
  return 0U;
}();

}  // namespace amdahl
