#include "local/apiserver/schema/cel/functions.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "local/apiserver/schema/field_error.hpp"
#include "local/apiserver/schema/value_checks.hpp"

namespace amdahl::local::cel {
namespace {

constexpr double kInt64Edge = 9223372036854775808.0;  // 2^63

Result<Value> size(const Call& call) {
  const Value& value = call.args[0];
  if (value.is_list()) return Value{static_cast<std::int64_t>(list_size(value))};
  if (value.is_map()) return Value{static_cast<std::int64_t>(map_size(value))};
  if (const auto* bytes = value.as<Bytes>()) {
    return Value{static_cast<std::int64_t>(bytes->data.size())};
  }
  const auto* text = value.as<std::string>();
  if (text == nullptr) return no_overload();
  if (!call.steps.take(text->size() / 10)) return too_costly();
  return Value{code_points(*text)};
}

template <class Number>
Result<Value> parsed(const std::string& text, std::string_view go_function) {
  Number number{};
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (text.starts_with('+')) ++begin;
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error == std::errc::result_out_of_range) {
    return fail(Errc::kInvalid, "strconv.{}: parsing {}: value out of range", go_function,
                go_quote(text));
  }
  if (error != std::errc{} || stop != end) {
    return fail(Errc::kInvalid, "strconv.{}: parsing {}: invalid syntax", go_function,
                go_quote(text));
  }
  return Value{number};
}

Result<Value> to_int(const Call& call) {
  const Value& value = call.args[0];
  if (value.as<std::int64_t>() != nullptr) return value;
  if (const auto* text = value.as<std::string>()) return parsed<std::int64_t>(*text, "ParseInt");
  if (const auto* time = value.as<Instant>()) return Value{time->seconds};
  if (const auto* number = value.as<double>()) {
    if (!(std::fabs(*number) < kInt64Edge)) return fail(Errc::kInvalid, "integer overflow");
    return Value{static_cast<std::int64_t>(*number)};
  }
  const auto* number = value.as<std::uint64_t>();
  if (number == nullptr) return no_overload();
  if (*number > std::numeric_limits<std::int64_t>::max()) {
    return fail(Errc::kInvalid, "integer overflow");
  }
  return Value{static_cast<std::int64_t>(*number)};
}

Result<Value> to_uint(const Call& call) {
  const Value& value = call.args[0];
  if (value.as<std::uint64_t>() != nullptr) return value;
  if (const auto* text = value.as<std::string>()) return parsed<std::uint64_t>(*text, "ParseUint");
  if (const auto* number = value.as<std::int64_t>()) {
    if (*number < 0) return fail(Errc::kInvalid, "unsigned integer overflow");
    return Value{static_cast<std::uint64_t>(*number)};
  }
  const auto* number = value.as<double>();
  if (number == nullptr) return no_overload();
  if (!(*number >= 0 && *number < 2 * kInt64Edge)) {
    return fail(Errc::kInvalid, "unsigned integer overflow");
  }
  return Value{static_cast<std::uint64_t>(*number)};
}

Result<Value> to_double(const Call& call) {
  const Value& value = call.args[0];
  if (value.as<double>() != nullptr) return value;
  if (const auto* text = value.as<std::string>()) return parsed<double>(*text, "ParseFloat");
  if (const auto* number = value.as<std::int64_t>()) return Value{static_cast<double>(*number)};
  if (const auto* number = value.as<std::uint64_t>()) return Value{static_cast<double>(*number)};
  return no_overload();
}

Result<Value> to_bool(const Call& call) {
  if (call.args[0].as<bool>() != nullptr) return call.args[0];
  const auto* text = call.args[0].as<std::string>();
  if (text == nullptr) return no_overload();
  for (const std::string_view yes : {"1", "t", "true", "TRUE", "True"}) {
    if (*text == yes) return Value{true};
  }
  for (const std::string_view no : {"0", "f", "false", "FALSE", "False"}) {
    if (*text == no) return Value{false};
  }
  return fail(Errc::kInvalid, "type conversion error from 'string' to 'bool'");
}

Result<Value> to_text(const Call& call) {
  const Value& value = call.args[0];
  if (value.as<std::string>() != nullptr) return value;
  if (const auto* flag = value.as<bool>()) return Value{std::string(*flag ? "true" : "false")};
  if (const auto* number = value.as<std::int64_t>()) return Value{fmt::format("{}", *number)};
  if (const auto* number = value.as<std::uint64_t>()) return Value{fmt::format("{}", *number)};
  if (const auto* number = value.as<double>()) return Value{go_float(*number)};
  if (const auto* bytes = value.as<Bytes>()) return Value{bytes->data};
  if (const auto* span = value.as<std::chrono::nanoseconds>()) {
    return Value{go_float(static_cast<double>(span->count()) / 1e9) + "s"};
  }
  return no_overload();
}

Result<Value> to_bytes(const Call& call) {
  if (call.args[0].as<Bytes>() != nullptr) return call.args[0];
  const auto* text = call.args[0].as<std::string>();
  if (text == nullptr) return no_overload();
  return Value{Bytes{*text}};
}

Result<Value> to_dynamic(const Call& call) {
  return call.args[0];
}
Result<Value> to_type(const Call& call) {
  return Value{TypeName{type_name(call.args[0])}};
}

constexpr std::array<Function, 10> kConversions{{
    {"size", false, 1, 1, Kind::kInt, Kind::kDynamic, size},
    {"size", true, 0, 0, Kind::kInt, Kind::kDynamic, size},
    {"int", false, 1, 1, Kind::kInt, Kind::kDynamic, to_int},
    {"uint", false, 1, 1, Kind::kUint, Kind::kDynamic, to_uint},
    {"double", false, 1, 1, Kind::kDouble, Kind::kDynamic, to_double},
    {"bool", false, 1, 1, Kind::kBool, Kind::kDynamic, to_bool},
    {"string", false, 1, 1, Kind::kString, Kind::kDynamic, to_text},
    {"bytes", false, 1, 1, Kind::kBytes, Kind::kDynamic, to_bytes},
    {"dyn", false, 1, 1, Kind::kDynamic, Kind::kDynamic, to_dynamic},
    {"type", false, 1, 1, Kind::kType, Kind::kDynamic, to_type},
}};

std::array<std::span<const Function>, 4> all_functions() {
  return {conversion_functions(), text_functions(), list_functions(), unit_functions()};
}

}  // namespace

std::span<const Function> conversion_functions() {
  return kConversions;
}

const Function* find_function(std::string_view name, bool member, std::size_t args) {
  for (const auto& table : all_functions()) {
    for (const Function& function : table) {
      if (function.name == name && function.member == member && function.args_min <= args &&
          args <= function.args_max) {
        return &function;
      }
    }
  }
  return nullptr;
}

bool any_function(std::string_view name) {
  for (const auto& table : all_functions()) {
    for (const Function& function : table) {
      if (function.name == name) return true;
    }
  }
  return false;
}

}  // namespace amdahl::local::cel
