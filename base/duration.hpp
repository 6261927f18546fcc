// Durations as Kubernetes users write them: "90s", "2h", "1h30m".
//
// Plain values, any thread. In a field table FieldRules::min and max of these types are seconds;
// the schema turns them into a pattern and a CEL rule. Failure: a text that is no duration is
// nullopt, or is refused with its path where a table is read.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/fields.hpp"

namespace amdahl {

class JsonValue;

// What Go's time.ParseDuration takes: "1h30m", "-1.5s", "0".
std::optional<std::chrono::nanoseconds> parse_go_duration(std::string_view text);

// The shortest whole units: "1h30m", "90ms", "0s". parse_go_duration() gives the value back.
std::string format_duration(std::chrono::nanoseconds span);

// A span that is not negative.
struct Duration {
  std::chrono::nanoseconds span{0};
  constexpr Duration() = default;
  template <class Rep, class Period>
  // NOLINTNEXTLINE(google-explicit-constructor): 30min is a Duration
  constexpr Duration(std::chrono::duration<Rep, Period> value) : span(value) {}
  auto operator<=>(const Duration&) const = default;
};

// Duration, or one word that stands for "no fixed duration", such as Auto.
//   struct Auto { static constexpr std::string_view kName = "Auto"; };
// The empty word is for spans that may be left open: "" means no limit.
template <class Word>
struct DurationOr {
  std::optional<Duration> fixed{};
  constexpr DurationOr() = default;
  template <class Rep, class Period>
  // NOLINTNEXTLINE(google-explicit-constructor): as above
  constexpr DurationOr(std::chrono::duration<Rep, Period> value) : fixed(value) {}
  bool operator==(const DurationOr&) const = default;
};

struct NoWord {
  static constexpr std::string_view kName = "";
};
using OptionalDuration = DurationOr<NoWord>;  // "" is none

namespace duration_detail {

inline constexpr std::uint32_t kTextMax = 32;  // characters; enough for every canonical form

bool read(JsonValue& from, std::optional<Duration>& into, const std::string_view* word);
void describe(Json& schema, const FieldRules& rules, const std::string_view* word);
std::string type_name(const FieldRules& rules, const std::string_view* word);
std::string fault(const std::optional<Duration>& value, const FieldRules& rules);

}  // namespace duration_detail

template <>
struct FieldCodec<Duration> {
  static bool read(JsonValue& from, Duration& into);
  static Json write(const Duration& value);
  static void describe(Json& schema, const FieldRules& rules) {
    duration_detail::describe(schema, rules, nullptr);
  }
  static std::string type_name(const FieldRules& rules) {
    return duration_detail::type_name(rules, nullptr);
  }
  static bool is_empty(const Duration& value) { return value == Duration{}; }
  static std::string fault(const Duration& value, const FieldRules& rules) {
    return duration_detail::fault(value, rules);
  }
};

template <class Word>
struct FieldCodec<DurationOr<Word>> {
  using Value = DurationOr<Word>;
  static bool read(JsonValue& from, Value& into) {
    return duration_detail::read(from, into.fixed, &Word::kName);
  }
  static Json write(const Value& value) {
    return value.fixed ? format_duration(value.fixed->span) : std::string(Word::kName);
  }
  static void describe(Json& schema, const FieldRules& rules) {
    duration_detail::describe(schema, rules, &Word::kName);
  }
  static std::string type_name(const FieldRules& rules) {
    return duration_detail::type_name(rules, &Word::kName);
  }
  static bool is_empty(const Value& value) { return !value.fixed && Word::kName.empty(); }
  static std::string fault(const Value& value, const FieldRules& rules) {
    return duration_detail::fault(value.fixed, rules);
  }
};

}  // namespace amdahl
