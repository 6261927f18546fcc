#include <array>
#include <limits>

#include "base/duration.hpp"
#include "local/apiserver/schema/cel/functions.hpp"
#include "local/apiserver/schema/field_error.hpp"

namespace amdahl::local::cel {
namespace {

constexpr __int128 kOne = 1'000'000'000;
constexpr __int128 kNanosMax = kOne * kOne * kOne * kOne;  // far beyond what Kubernetes keeps exact

using std::chrono::nanoseconds;

Result<Value> to_duration(const Call& call) {
  if (call.args[0].as<nanoseconds>() != nullptr) return call.args[0];
  const auto* text = call.args[0].as<std::string>();
  if (text == nullptr) return no_overload();
  const auto span = parse_go_duration(*text);
  if (!span) return fail(Errc::kInvalid, "time: invalid duration {}", go_quote(*text));
  return Value{*span};
}

Result<Value> to_timestamp(const Call& call) {
  if (call.args[0].as<Instant>() != nullptr) return call.args[0];
  if (const auto* seconds = call.args[0].as<std::int64_t>()) {
    return Value{Instant{.seconds = *seconds}};
  }
  const auto* text = call.args[0].as<std::string>();
  if (text == nullptr) return no_overload();
  const auto time = parse_date_time(*text);
  if (!time) {
    return fail(Errc::kInvalid,
                "type conversion error from 'string' to 'google.protobuf.Timestamp'");
  }
  return Value{*time};
}

template <std::int64_t Nanos>
Result<Value> duration_in(const Call& call) {
  const auto* span = call.args[0].as<nanoseconds>();
  if (span == nullptr) return no_overload();
  return Value{span->count() / Nanos};
}

Result<Value> to_quantity(const Call& call) {
  const auto* text = call.args[0].as<std::string>();
  if (text == nullptr) return no_overload();
  TRY(const Quantity quantity, parse_quantity(*text));
  return Value{quantity};
}

Result<Value> is_quantity(const Call& call) {
  const auto* text = call.args[0].as<std::string>();
  if (text == nullptr) return no_overload();
  return Value{parse_quantity(*text).has_value()};
}

Result<Value> compare_to(const Call& call) {
  if (call.args[0].as<Quantity>() == nullptr) return no_overload();
  TRY(const int order, compare(call.args[0], call.args[1]));
  return Value{static_cast<std::int64_t>(order)};
}
Result<Value> is_greater(const Call& call) {
  if (call.args[0].as<Quantity>() == nullptr) return no_overload();
  TRY(const int order, compare(call.args[0], call.args[1]));
  return Value{order > 0};
}
Result<Value> is_less(const Call& call) {
  if (call.args[0].as<Quantity>() == nullptr) return no_overload();
  TRY(const int order, compare(call.args[0], call.args[1]));
  return Value{order < 0};
}

bool is_whole(const Quantity& quantity) {
  const __int128 whole = quantity.nanos / kOne;
  return quantity.nanos % kOne == 0 && whole <= std::numeric_limits<std::int64_t>::max() &&
         whole >= std::numeric_limits<std::int64_t>::min();
}
Result<Value> is_integer(const Call& call) {
  const auto* quantity = call.args[0].as<Quantity>();
  if (quantity == nullptr) return no_overload();
  return Value{is_whole(*quantity)};
}
Result<Value> as_integer(const Call& call) {
  const auto* quantity = call.args[0].as<Quantity>();
  if (quantity == nullptr) return no_overload();
  if (!is_whole(*quantity)) {
    return fail(Errc::kInvalid, "cannot convert value to integer");
  }
  return Value{static_cast<std::int64_t>(quantity->nanos / kOne)};
}
Result<Value> sign(const Call& call) {
  const auto* quantity = call.args[0].as<Quantity>();
  if (quantity == nullptr) return no_overload();
  const std::int64_t value = quantity->nanos < 0 ? -1 : quantity->nanos > 0 ? 1 : 0;
  return Value{value};
}

Result<Value> plus(const Call& call, int factor) {
  const auto* left = call.args[0].as<Quantity>();
  const auto* right = call.args[1].as<Quantity>();
  const auto* whole = call.args[1].as<std::int64_t>();
  if (left == nullptr || (right == nullptr && whole == nullptr)) return no_overload();
  const __int128 other = right != nullptr ? right->nanos : *whole * kOne;
  const __int128 total = left->nanos + other * factor;
  if (total > kNanosMax || total < -kNanosMax) return fail(Errc::kInvalid, "quantity overflow");
  return Value{Quantity{total}};
}
Result<Value> add(const Call& call) {
  return plus(call, 1);
}
Result<Value> subtract(const Call& call) {
  return plus(call, -1);
}

Result<Value> has_value(const Call& call) {
  const auto* optional = call.args[0].as<Optional>();
  if (optional == nullptr) return no_overload();
  return Value{optional->value != nullptr};
}
Result<Value> value(const Call& call) {
  const auto* optional = call.args[0].as<Optional>();
  if (optional == nullptr) return no_overload();
  if (optional->value == nullptr) return fail(Errc::kInvalid, "optional.none() dereference");
  return *optional->value;
}
Result<Value> or_value(const Call& call) {
  const auto* optional = call.args[0].as<Optional>();
  if (optional == nullptr) return no_overload();
  return optional->value == nullptr ? call.args[1] : *optional->value;
}

constexpr std::array<Function, 19> kUnits{{
    {"duration", false, 1, 1, Kind::kDuration, Kind::kDynamic, to_duration},
    {"timestamp", false, 1, 1, Kind::kTimestamp, Kind::kDynamic, to_timestamp},
    {"getHours", true, 0, 0, Kind::kInt, Kind::kDuration, duration_in<3'600'000'000'000>},
    {"getMinutes", true, 0, 0, Kind::kInt, Kind::kDuration, duration_in<60'000'000'000>},
    {"getSeconds", true, 0, 0, Kind::kInt, Kind::kDuration, duration_in<1'000'000'000>},
    {"getMilliseconds", true, 0, 0, Kind::kInt, Kind::kDuration, duration_in<1'000'000>},
    {"quantity", false, 1, 1, Kind::kQuantity, Kind::kDynamic, to_quantity},
    {"isQuantity", false, 1, 1, Kind::kBool, Kind::kDynamic, is_quantity},
    {"compareTo", true, 1, 1, Kind::kInt, Kind::kQuantity, compare_to},
    {"isGreaterThan", true, 1, 1, Kind::kBool, Kind::kQuantity, is_greater},
    {"isLessThan", true, 1, 1, Kind::kBool, Kind::kQuantity, is_less},
    {"isInteger", true, 0, 0, Kind::kBool, Kind::kQuantity, is_integer},
    {"asInteger", true, 0, 0, Kind::kInt, Kind::kQuantity, as_integer},
    {"sign", true, 0, 0, Kind::kInt, Kind::kQuantity, sign},
    {"add", true, 1, 1, Kind::kQuantity, Kind::kQuantity, add},
    {"sub", true, 1, 1, Kind::kQuantity, Kind::kQuantity, subtract},
    {"hasValue", true, 0, 0, Kind::kBool, Kind::kOptional, has_value},
    {"value", true, 0, 0, Kind::kDynamic, Kind::kOptional, value},
    {"orValue", true, 1, 1, Kind::kDynamic, Kind::kOptional, or_value},
}};

// 1 for "", 1024 for "Ki", a billionth for "n"; zero when there is no such suffix.
__int128 suffix_nanos(std::string_view suffix) {
  constexpr std::string_view kBinary = "KMGTPE";
  constexpr std::string_view kDecimal = "kMGTPE";
  if (suffix.empty()) return kOne;
  if (suffix == "n") return 1;
  if (suffix == "u") return 1'000;
  if (suffix == "m") return 1'000'000;
  const bool binary = suffix.size() == 2 && suffix[1] == 'i';
  const std::size_t at = (binary ? kBinary : kDecimal).find(suffix[0]);
  if (at == std::string_view::npos || (!binary && suffix.size() != 1)) return 0;
  __int128 scale = kOne;
  for (std::size_t i = 0; i <= at; ++i) scale *= binary ? 1024 : 1000;
  return scale;
}

// "e3", "E-2": as a scale; zero when it is none.
__int128 exponent_nanos(std::string_view suffix) {
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return 0;
  suffix.remove_prefix(1);
  const bool negative = suffix[0] == '-';
  if (negative || suffix[0] == '+') suffix.remove_prefix(1);
  int power = 0;
  if (suffix.empty() || suffix.size() > 2) return 0;
  for (const char c : suffix) {
    if (c < '0' || c > '9') return 0;
    power = power * 10 + (c - '0');
  }
  if (power > (negative ? 9 : 18)) return 0;
  __int128 scale = kOne;
  for (int i = 0; i < power; ++i) scale = negative ? scale / 10 : scale * 10;
  return scale;
}

}  // namespace

std::span<const Function> unit_functions() {
  return kUnits;
}

Result<Quantity> parse_quantity(std::string_view text) {
  const auto wrong = [] {
    return fail(Errc::kInvalid,
                "quantities must match the regular expression "
                "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  };
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string_view digits = text.substr(0, end);
  const std::string_view suffix = text.substr(end);
  __int128 scale = suffix_nanos(suffix);
  if (scale == 0) scale = exponent_nanos(suffix);
  if (scale == 0 || digits.find_first_of("0123456789") == std::string_view::npos) return wrong();
  __int128 total = 0;
  bool fraction = false;
  bool rest = false;
  for (const char c : digits) {
    if (c == '.') {
      if (fraction) return wrong();
      fraction = true;
      continue;
    }
    if (!fraction) {
      total = total * 10 + (c - '0') * scale;
    } else {
      rest = rest || (c != '0' && (c - '0') * scale % 10 != 0);
      total += (c - '0') * scale / 10;
      scale /= 10;
    }
    if (total > kNanosMax) return fail(Errc::kInvalid, "quantity out of range");
  }
  if (rest) ++total;  // Kubernetes rounds up, away from zero
  return Quantity{negative ? -total : total};
}

}  // namespace amdahl::local::cel
