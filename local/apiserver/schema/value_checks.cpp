#include "local/apiserver/schema/value_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "local/apiserver/schema/field_error.hpp"

namespace amdahl::local {
namespace {

constexpr double kExactIntegerMax = 9007199254740991.0;  // 2^53 - 1

// Go reads a JSON number as int64 when it fits, otherwise as float64.
bool is_int64(const Json& value) {
  if (value.is_number_unsigned()) {
    return value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
  }
  return value.is_number_integer();
}

bool is_whole(double value) {
  if (!std::isfinite(value) || std::fabs(value) > kExactIntegerMax) return false;
  const double whole = std::trunc(value);
  if (value == whole) return true;
  return whole != 0 && std::fabs(value - whole) / (std::fabs(value) + std::fabs(whole)) < 1e-9;
}

std::string_view type_of(const Json& value) {
  if (value.is_null()) return "null";
  if (value.is_boolean()) return "boolean";
  if (value.is_string()) return "string";
  if (value.is_array()) return "array";
  if (value.is_object()) return "object";
  return is_int64(value) ? "integer" : "number";
}

std::string types_of(const Schema& schema) {
  return std::string(schema.int_or_string ? "integer,string" : name(schema.type));
}

bool accepts(const Schema& schema, const Json& value) {
  const std::string_view actual = type_of(value);
  const bool whole = actual == "number" && is_whole(value.get<double>());
  if (schema.int_or_string) return actual == "integer" || actual == "string" || whole;
  if (schema.type == SchemaType::kNone) return false;  // only a format is said
  return actual == name(schema.type) || (whole && schema.type == SchemaType::kInteger) ||
         (actual == "integer" && schema.type == SchemaType::kNumber);
}

std::int64_t to_int64(double value) {
  constexpr double kMax = 9223372036854775807.0;
  if (std::isnan(value)) return 0;
  if (value >= kMax) return std::numeric_limits<std::int64_t>::max();
  if (value <= -kMax) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

// Go prints a bound beside an integer as an integer.
template <class Number>
std::string printed(Number value) {
  if constexpr (std::is_same_v<Number, double>) {
    return go_float(value);
  } else {
    return fmt::format("{}", value);
  }
}

template <class Number>
void check_bounds(const ValueChecks& checks, Number value, const ValuePlace& place,
                  std::vector<Cause>& causes) {
  const auto bound = [](double number) {
    if constexpr (std::is_same_v<Number, double>) {
      return number;
    } else {
      return to_int64(number);
    }
  };
  const auto refuse = [&](std::string_view words, const std::string& limit) {
    causes.push_back(
        invalid_cause(place.field, Json(value),
                      fmt::format("{} in body should be {} {}", place.shown, words, limit)));
  };
  if (checks.minimum) {
    const Number limit = bound(*checks.minimum);
    if (value < limit || (checks.exclusive_minimum && value == limit)) {
      refuse(checks.exclusive_minimum ? "greater than" : "greater than or equal to",
             printed(limit));
    }
  }
  if (checks.maximum) {
    const Number limit = bound(*checks.maximum);
    if (value > limit || (checks.exclusive_maximum && value == limit)) {
      refuse(checks.exclusive_maximum ? "less than" : "less than or equal to", printed(limit));
    }
  }
}

bool is_multiple(const Json& value, double factor) {
  if (is_int64(value)) {
    const std::int64_t whole = to_int64(factor);
    return whole != 0 && value.get<std::int64_t>() % whole == 0;
  }
  const double number = value.get<double>();
  return is_whole(factor < 1 ? 1 / factor * number : number / factor);
}

void check_multiple(double factor, const Json& value, const ValuePlace& place,
                    std::vector<Cause>& causes) {
  const bool integer = is_int64(value);
  const std::string shown = integer ? fmt::format("{}", to_int64(factor)) : go_float(factor);
  if (factor <= 0 || (integer && to_int64(factor) <= 0)) {
    const Json bad = integer ? Json(to_int64(factor)) : Json(factor);
    causes.push_back(invalid_cause(
        place.field, bad,
        fmt::format("factor MultipleOf declared for {} must be positive: {}", place.shown, shown)));
  } else if (!is_multiple(value, factor)) {
    causes.push_back(
        invalid_cause(place.field, value,
                      fmt::format("{} in body should be a multiple of {}", place.shown, shown)));
  }
}

}  // namespace

bool checks_type(const Schema& schema) {
  return schema.type != SchemaType::kNone || schema.int_or_string ||
         schema.checks.format != Format::kNone;
}

std::optional<Cause> check_type(const Schema& schema, const Json& value, const ValuePlace& place) {
  const bool typed = schema.type != SchemaType::kNone || schema.int_or_string;
  const auto refuse = [&](std::string_view wanted, std::string_view actual) {
    return type_invalid_cause(
        place.field, actual,
        fmt::format("{} in body must be of type {}: {}", place.shown, wanted, go_quote(actual)));
  };
  if (value.is_null()) {
    if (!typed || schema.nullable) return std::nullopt;
    return refuse(types_of(schema), "null");
  }
  if (accepts(schema, value)) return std::nullopt;
  const bool has_format = schema.checks.format != Format::kNone;
  const bool text_or_list = value.is_string() || value.is_array();
  if (has_format && !text_or_list) {
    const std::string_view actual = !value.is_number() ? "" : is_int64(value) ? "int64" : "float64";
    return refuse(schema.checks.format_name, actual);
  }
  const bool numeric = schema.int_or_string || schema.type == SchemaType::kInteger ||
                       schema.type == SchemaType::kNumber;
  if (has_format && !numeric) return std::nullopt;  // the format says whether the text is right
  return refuse(types_of(schema), type_of(value));
}

void check_number(const ValueChecks& checks, const Json& value, const ValuePlace& place,
                  std::vector<Cause>& causes) {
  if (checks.multiple_of) check_multiple(*checks.multiple_of, value, place, causes);
  if (is_int64(value)) {
    check_bounds(checks, value.get<std::int64_t>(), place, causes);
  } else {
    check_bounds(checks, value.get<double>(), place, causes);
  }
}

std::int64_t code_points(std::string_view text) {
  return std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

std::optional<Cause> check_text(const ValueChecks& checks, const Json& value,
                                const ValuePlace& place) {
  const auto& text = value.get_ref<const std::string&>();
  if (checks.max_length && code_points(text) > *checks.max_length) {
    return too_long_cause(place.field, *checks.max_length);
  }
  if (checks.min_length && code_points(text) < *checks.min_length) {
    return invalid_cause(place.field, value,
                         fmt::format("{} in body should be at least {} chars long", place.shown,
                                     *checks.min_length));
  }
  if (checks.pattern != nullptr && !checks.pattern->found_in(text)) {
    return invalid_cause(
        place.field, value,
        fmt::format("{} in body should match '{}'", place.shown, checks.pattern->expression()));
  }
  return std::nullopt;
}

std::optional<Cause> check_format(const ValueChecks& checks, const Json& value,
                                  const ValuePlace& place) {
  const auto& text = value.get_ref<const std::string&>();
  if (has_format(checks.format, text)) return std::nullopt;
  return type_invalid_cause(place.field, text,
                            fmt::format("{} in body must be of type {}: {}", place.shown,
                                        checks.format_name, go_quote(text)));
}

}  // namespace amdahl::local
