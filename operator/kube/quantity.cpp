#include "operator/kube/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json_reader.hpp"
#include "base/wire_reader.hpp"

namespace amdahl::kube {
namespace {

using Nanos = Quantity::Nanos;
using Format = Quantity::Format;

// Wide enough for 64 digits, a suffix and the nanos, so that nothing below can overflow.
using Wide = boost::multiprecision::int1024_t;
constexpr std::size_t kTextBytesMax = 64;
constexpr std::int64_t kExponentMax = 27;      // 10^27 units is the bound of the type
constexpr std::int64_t kExponentDownMax = 80;  // 64 digits times 10^-80 are less than a nano
constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();

struct Suffix {
  Format format = Format::kDecimalSi;
  int base = 10;
  std::int64_t exponent = 0;
};

struct NamedSuffix {
  std::string_view text;
  Suffix meaning;
};
constexpr std::array kSuffixes = std::to_array<NamedSuffix>({
    {"", {}},
    {"n", {.exponent = -9}},
    {"u", {.exponent = -6}},
    {"m", {.exponent = -3}},
    {"k", {.exponent = 3}},
    {"M", {.exponent = 6}},
    {"G", {.exponent = 9}},
    {"T", {.exponent = 12}},
    {"P", {.exponent = 15}},
    {"E", {.exponent = 18}},
    {"Ki", {Format::kBinarySi, 2, 10}},
    {"Mi", {Format::kBinarySi, 2, 20}},
    {"Gi", {Format::kBinarySi, 2, 30}},
    {"Ti", {Format::kBinarySi, 2, 40}},
    {"Pi", {Format::kBinarySi, 2, 50}},
    {"Ei", {Format::kBinarySi, 2, 60}},
});

std::string_view suffix_text(Format format, std::int64_t exponent) {
  for (const auto& [text, meaning] : kSuffixes)
    if (meaning.format == format && meaning.exponent == exponent) return text;
  return "";
}

std::optional<Suffix> parse_suffix(std::string_view text) {
  for (const auto& entry : kSuffixes)
    if (entry.text == text) return entry.meaning;
  if (text.size() < 2 || (text.front() != 'e' && text.front() != 'E')) return std::nullopt;
  text.remove_prefix(text[1] == '+' && text.find('-') == std::string_view::npos ? 2 : 1);
  Suffix suffix{.format = Format::kDecimalExponent};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), suffix.exponent);
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range)
    suffix.exponent = text.front() == '-' ? -1'000'000 : 1'000'000;
  else if (error != std::errc())
    return std::nullopt;
  return suffix;
}

struct Number {
  bool negative = false;
  std::string_view whole = {};
  std::string_view fraction = {};
  std::string_view suffix = {};
};

std::optional<Number> split(std::string_view text) {
  Number number;
  if (text.starts_with('-') || text.starts_with('+')) {
    number.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const auto digits = [&] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::string_view found = text.substr(0, count);
    text.remove_prefix(count);
    return found;
  };
  number.whole = digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    number.fraction = digits();
  }
  if (number.whole.empty() && number.fraction.empty()) return std::nullopt;
  number.suffix = text;
  return number;
}

// |number| * 10^9 * base^exponent, rounded up; nullopt when it is over the bound of the type.
std::optional<Nanos> nanos_of(const Number& number, const Suffix& suffix, Nanos limit) {
  Wide amount = 0;
  for (const char c : number.whole) amount = amount * 10 + (c - '0');
  for (const char c : number.fraction) amount = amount * 10 + (c - '0');
  if (amount == 0) return 0;
  if (suffix.exponent > kExponentMax && suffix.base == 10) return std::nullopt;
  const auto power = [](int base, std::int64_t exponent) {
    return boost::multiprecision::pow(Wide(base), static_cast<unsigned>(exponent));
  };
  const std::int64_t up = std::max<std::int64_t>(suffix.exponent, 0);
  const std::int64_t down = std::min(-std::min<std::int64_t>(suffix.exponent, 0), kExponentDownMax);
  const Wide divisor =
      power(10, down) * power(10, static_cast<std::int64_t>(number.fraction.size()));
  amount *= power(suffix.base, up) * 1'000'000'000;
  amount = (amount + divisor - 1) / divisor;
  if (amount > Wide(limit)) return std::nullopt;
  return static_cast<Nanos>(amount);
}

std::string digits_of(Nanos value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  if (negative) value = -value;
  std::string text;
  for (; value != 0; value /= 10) text += static_cast<char>('0' + static_cast<int>(value % 10));
  if (negative) text += '-';
  std::reverse(text.begin(), text.end());
  return text;
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text) {
  if (text.size() > kTextBytesMax)
    return fail(Errc::kInvalid, "quantity of more than {} characters", kTextBytesMax);
  const auto number = split(text);
  if (!number) return fail(Errc::kInvalid, "\"{}\" is not a quantity: no digits", text);
  auto suffix = parse_suffix(number->suffix);
  if (!suffix)
    return fail(Errc::kInvalid, "\"{}\" is not a quantity: no such suffix as \"{}\"", text,
                number->suffix);
  const auto nanos = nanos_of(*number, *suffix, kNanosMax);
  Nanos amount = nanos.value_or(kNanosMax);
  if (suffix->format == Format::kBinarySi) {
    amount = std::min(amount, Nanos{kInt64Max} * kNanosPerUnit);
    // A part of a byte is shown in thousandths, not rounded.
    if (amount < kNanosPerUnit) suffix->format = Format::kDecimalSi;
  } else if (!nanos) {
    return fail(Errc::kInvalid, "quantity {} is larger than can be represented", text);
  }
  return Quantity(number->negative ? -amount : amount, suffix->format);
}

std::string Quantity::to_string() const {
  if (nanos_ == 0) return "0";
  constexpr Nanos kBinaryMin = 1024;
  const Nanos whole = nanos_ / kNanosPerUnit;
  const bool binary = format_ == Format::kBinarySi && nanos_ % kNanosPerUnit == 0 &&
                      (whole >= kBinaryMin || whole <= -kBinaryMin);
  Nanos amount = binary ? whole : nanos_;
  std::int64_t exponent = binary ? 0 : -9;
  const Nanos step = binary ? kBinaryMin : 1000;
  const std::int64_t step_exponent = binary ? 10 : 3;
  // Beyond the largest suffix the number itself grows.
  const std::int64_t exponent_max = binary ? 60 : format_ == Format::kDecimalExponent ? 36 : 18;
  while (amount % step == 0 && exponent < exponent_max) {
    amount /= step;
    exponent += step_exponent;
  }
  if (!binary && format_ == Format::kDecimalExponent)
    return exponent == 0 ? digits_of(amount) : fmt::format("{}e{}", digits_of(amount), exponent);
  return digits_of(amount) +
         std::string(suffix_text(binary ? Format::kBinarySi : Format::kDecimalSi, exponent));
}

std::int64_t Quantity::rounded(Nanos unit) const {
  Nanos amount = nanos_ / unit;
  if (nanos_ % unit != 0) amount += nanos_ < 0 ? -1 : 1;
  return static_cast<std::int64_t>(
      std::clamp<Nanos>(amount, std::numeric_limits<std::int64_t>::min(), kInt64Max));
}

Quantity& Quantity::add(Nanos nanos, Format format) {
  if (nanos_ == 0) format_ = format;  // as in Kubernetes: the first amount decides the form
  nanos_ = std::clamp<Nanos>(nanos_ + nanos, -kNanosMax, kNanosMax);
  return *this;
}

}  // namespace amdahl::kube

namespace amdahl {

bool FieldCodec<kube::Quantity>::read(JsonValue& from, kube::Quantity& into) {
  const auto text = from.kind() == JsonKind::kNumber ? from.raw() : from.string();
  if (!text) return false;
  auto quantity = kube::Quantity::parse(*text);
  if (!quantity) return from.reject(quantity.error().context);
  into = *quantity;
  return true;
}

Json FieldCodec<kube::Quantity>::write(const kube::Quantity& value) {
  return value.to_string();
}

bool FieldCodec<kube::Quantity>::read_wire(const WireValue& from, kube::Quantity& into) {
  const auto bytes = from.bytes();
  if (!bytes) return false;
  WireMessage message(*bytes, *from.walk);
  WireValue part;
  while (message.next(part)) {
    if (part.field != 1) continue;
    const auto text = part.string();
    if (!text) return from.walk->in_field(1);
    auto quantity = kube::Quantity::parse(*text);
    if (!quantity) return from.reject(quantity.error().context);
    into = *quantity;
  }
  return !from.walk->failed();
}

void FieldCodec<kube::Quantity>::describe(Json& schema) {
  schema["x-kubernetes-int-or-string"] = true;
  schema["anyOf"] = Json::array({{{"type", "integer"}}, {{"type", "string"}}});
  schema["pattern"] =
      R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";
}

}  // namespace amdahl
