// Kubernetes resource quantities: "100m", "1.5Gi", "1e3". Exact to the nano, 128 bits wide.
//
// A value type. Reading is as lenient as the API server: fractions below a nano round away from
// zero, binary quantities stop at 2^63-1. Writing gives the canonical form: no fraction, the
// largest suffix that keeps the number whole. Failure: parse() says what is wrong with the text.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fields.hpp"
#include "base/result.hpp"

namespace amdahl {
class JsonValue;
struct WireValue;
}  // namespace amdahl

namespace amdahl::kube {

class Quantity {
 public:
  __extension__ using Nanos = __int128;
  enum class Format : std::uint8_t { kDecimalSi, kBinarySi, kDecimalExponent };

  constexpr Quantity() = default;
  static Result<Quantity> parse(std::string_view text);
  static constexpr Quantity from_integer(std::int64_t value, Format format = Format::kDecimalSi) {
    return Quantity(Nanos{value} * kNanosPerUnit, format);
  }
  static constexpr Quantity from_milli(std::int64_t value) {
    return Quantity(Nanos{value} * (kNanosPerUnit / 1000), Format::kDecimalSi);
  }

  std::string to_string() const;
  // Rounded away from zero as in Kubernetes; stops at the ends of int64.
  std::int64_t value() const { return rounded(kNanosPerUnit); }
  std::int64_t milli_value() const { return rounded(kNanosPerUnit / 1000); }
  bool is_zero() const { return nanos_ == 0; }

  // Amounts compare and add; the form in which they were written does not matter.
  bool operator==(const Quantity& other) const { return nanos_ == other.nanos_; }
  std::strong_ordering operator<=>(const Quantity& other) const { return nanos_ <=> other.nanos_; }
  Quantity& operator+=(const Quantity& other) { return add(other.nanos_, other.format_); }
  Quantity& operator-=(const Quantity& other) { return add(-other.nanos_, other.format_); }
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }

 private:
  static constexpr Nanos kNanosPerUnit = 1'000'000'000;
  // 10^27 units; sums stop there, so that they cannot overflow.
  static constexpr Nanos kNanosMax = Nanos{1'000'000'000'000'000'000} * 1'000'000'000'000'000'000;

  constexpr Quantity(Nanos nanos, Format format) : nanos_(nanos), format_(format) {}
  std::int64_t rounded(Nanos unit) const;
  Quantity& add(Nanos nanos, Format format);

  Nanos nanos_ = 0;
  Format format_ = Format::kDecimalSi;
};

}  // namespace amdahl::kube

template <>
struct amdahl::FieldCodec<amdahl::kube::Quantity> {
  static bool read(JsonValue& from, kube::Quantity& into);  // a string or a number
  static Json write(const kube::Quantity& value);
  static bool read_wire(const WireValue& from, kube::Quantity& into);
  static void describe(Json& schema);
  static std::string_view type_name() { return "quantity"; }
  static bool is_empty(const kube::Quantity& value) { return value.is_zero(); }
};
