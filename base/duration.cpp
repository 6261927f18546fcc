#include "base/duration.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <span>

#include "base/json_reader.hpp"

namespace amdahl {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;
constexpr std::int64_t kNanosMax = std::numeric_limits<std::int64_t>::max();

struct Unit {
  std::string_view name = {};
  std::int64_t nanos = 0;
};
constexpr std::array<Unit, 8> kUnits{{{"h", 3'600'000'000'000},
                                      {"m", 60'000'000'000},
                                      {"s", 1'000'000'000},
                                      {"ms", 1'000'000},
                                      {"us", 1'000},
                                      {"ns", 1},
                                      {"\xC2\xB5s", 1'000},
                                      {"\xCE\xBCs", 1'000}}};
constexpr std::size_t kWrittenUnits = 6;

bool digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view take_while(std::string_view& text, auto wanted) {
  std::size_t bytes = 0;
  while (bytes < text.size() && wanted(text[bytes])) ++bytes;
  const std::string_view taken = text.substr(0, bytes);
  text.remove_prefix(bytes);
  return taken;
}

std::optional<std::int64_t> whole_number(std::string_view digits) {
  std::int64_t value = 0;
  if (digits.empty()) return value;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> unit_named(std::string_view name) {
  for (const Unit& unit : kUnits)
    if (unit.name == name) return unit.nanos;
  return std::nullopt;
}

// One "1.5h", taken from the front.
std::optional<std::int64_t> take_part(std::string_view& text) {
  const std::string_view before = take_while(text, digit);
  std::string_view after;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    after = take_while(text, digit);
  }
  if (before.empty() && after.empty()) return std::nullopt;
  const auto whole = whole_number(before);
  const auto unit = unit_named(take_while(text, [](char c) { return c != '.' && !digit(c); }));
  if (!whole || !unit || *whole > kNanosMax / *unit) return std::nullopt;
  std::int64_t nanos = *whole * *unit;
  std::int64_t scale = *unit;
  for (const char c : after) {
    scale /= 10;
    const std::int64_t more = scale * (c - '0');
    if (nanos > kNanosMax - more) return std::nullopt;
    nanos += more;
  }
  return nanos;
}

std::string bound_text(std::int64_t bound) {
  return format_duration(seconds{bound});
}

std::string range_words(const FieldRules& rules) {
  if (rules.min && rules.max)
    return fmt::format("from {} to {}", bound_text(*rules.min), bound_text(*rules.max));
  if (rules.min) return fmt::format("of at least {}", bound_text(*rules.min));
  if (rules.max) return fmt::format("of at most {}", bound_text(*rules.max));
  return "";
}

}  // namespace

std::optional<nanoseconds> parse_go_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return nanoseconds{0};
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;
  while (!text.empty()) {
    const auto part = take_part(text);
    if (!part || total > kNanosMax - *part) return std::nullopt;
    total += *part;
  }
  return nanoseconds{negative ? -total : total};
}

std::string format_duration(nanoseconds span) {
  if (span.count() == 0) return "0s";
  // Unsigned: the smallest span has no positive counterpart.
  const auto count = static_cast<std::uint64_t>(span.count());
  std::uint64_t rest = span.count() < 0 ? 0 - count : count;
  std::string text = span.count() < 0 ? "-" : "";
  for (const Unit& unit : std::span(kUnits).first(kWrittenUnits)) {
    const auto nanos = static_cast<std::uint64_t>(unit.nanos);
    if (rest >= nanos) text += fmt::format("{}{}", rest / nanos, unit.name);
    rest %= nanos;
  }
  return text;
}

namespace duration_detail {

bool read(JsonValue& from, std::optional<Duration>& into, const std::string_view* word) {
  const auto text = from.string();
  if (!text) return false;
  if (word != nullptr && *text == *word) {
    into.reset();
    return true;
  }
  const auto span = parse_go_duration(*text);
  if (!span) return from.reject(R"(not a duration such as "90s" or "1h30m")");
  if (*span < nanoseconds{0}) return from.reject("a duration is not negative");
  into = Duration(*span);
  return true;
}

void describe(Json& schema, const FieldRules& rules, const std::string_view* word) {
  const std::string plain = R"(^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$)";
  schema["type"] = "string";
  schema["maxLength"] = kTextMax;
  schema["pattern"] = word == nullptr ? plain : fmt::format("^{}$|{}", *word, plain);
  std::string rule;
  if (rules.min) rule = fmt::format("duration(self) >= duration('{}')", bound_text(*rules.min));
  if (rules.max) {
    if (!rule.empty()) rule += " && ";
    rule += fmt::format("duration(self) <= duration('{}')", bound_text(*rules.max));
  }
  if (rule.empty()) return;
  std::string message = "must be ";
  if (word != nullptr) {
    rule = fmt::format("self == '{}' || {}", *word, rule);
    message += word->empty() ? "empty or " : fmt::format("{} or ", *word);
  }
  message += "a duration " + range_words(rules);
  schema["x-kubernetes-validations"] = Json::array({{{"rule", rule}, {"message", message}}});
}

std::string type_name(const FieldRules& rules, const std::string_view* word) {
  std::string text = "duration";
  if (const std::string range = range_words(rules); !range.empty()) text += " " + range;
  if (word == nullptr) return text;
  return word->empty() ? text + ", or empty" : fmt::format("`{}` or a {}", *word, text);
}

std::string fault(const std::optional<Duration>& value, const FieldRules& rules) {
  if (!value) return "";
  const std::string text = format_duration(value->span);
  if (value->span < nanoseconds{0}) return text + " is negative";
  if (rules.min && value->span < seconds{*rules.min})
    return fmt::format("{} is less than {}", text, bound_text(*rules.min));
  if (rules.max && value->span > seconds{*rules.max})
    return fmt::format("{} is more than {}", text, bound_text(*rules.max));
  return "";
}

}  // namespace duration_detail

bool FieldCodec<Duration>::read(JsonValue& from, Duration& into) {
  std::optional<Duration> value;
  if (!duration_detail::read(from, value, nullptr)) return false;
  into = *value;
  return true;
}

Json FieldCodec<Duration>::write(const Duration& value) {
  return format_duration(value.span);
}

}  // namespace amdahl
