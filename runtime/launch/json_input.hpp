// JSON that others wrote, as a bounded tree, and from there into structs by their field tables.
//
// For small inputs in the launcher, which is linked statically and so without the fast reader of
// base/json_decode.hpp. Unknown keys are skipped; a member of a wrong type leaves its field as it
// was, because a launcher takes what it can use. Thread: any. Failure: a discarded or null value.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/each_field.hpp"
#include "base/fields.hpp"

namespace amdahl::launch {

inline constexpr std::size_t kInputBytesMax = std::size_t{64} << 10U;
inline constexpr int kInputDepthMax = 16;

// Discarded (is_discarded()) when it is no JSON, too long or too deep.
Json parse_input(std::string_view text);

// True when there was something of the right type.
template <class T>
bool read_input(const Json& from, T& into);

template <class T>
bool read_input(const Json& from, T& into) {
  if constexpr (OptionalField<T>) {
    typename T::value_type value{};
    if (!read_input(from, value)) return false;
    into = std::move(value);
  } else if constexpr (std::same_as<T, bool>) {
    if (!from.is_boolean()) return false;
    into = from.get<bool>();
  } else if constexpr (std::same_as<T, double>) {
    if (!from.is_number()) return false;
    into = from.get<double>();
  } else if constexpr (std::same_as<T, std::int64_t>) {
    if (!from.is_number_integer()) return false;
    if (from.is_number_unsigned() && from.get<std::uint64_t>() > INT64_MAX) return false;
    into = from.get<std::int64_t>();
  } else if constexpr (std::same_as<T, std::string>) {
    if (!from.is_string()) return false;
    into = from.get<std::string>();
  } else if constexpr (NamedEnum<T>) {
    if (!from.is_string()) return false;
    const auto value = parse_enum<T>(from.get_ref<const std::string&>());
    if (!value) return false;
    into = *value;
  } else if constexpr (std::same_as<T, Json>) {
    into = from;
  } else {
    static_assert(HasFields<T>, "teach read_input this type");
    if (!from.is_object()) return false;
    each_field(into, [&from](std::string_view name, auto& member, const FieldRules&) {
      const auto place = from.find(name);
      if (place != from.end()) read_input(*place, member);
    });
  }
  return true;
}

}  // namespace amdahl::launch
