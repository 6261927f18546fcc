// intstr.IntOrString: a port by number or by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/fields.hpp"

namespace amdahl {
class JsonValue;
struct WireValue;
}  // namespace amdahl

namespace amdahl::kube {

struct IntOrString {
  std::variant<std::int32_t, std::string> value = 0;
  bool operator==(const IntOrString&) const = default;
};

}  // namespace amdahl::kube

template <>
struct amdahl::FieldCodec<amdahl::kube::IntOrString> {
  static bool read(JsonValue& from, kube::IntOrString& into);
  static Json write(const kube::IntOrString& value);
  static bool read_wire(const WireValue& from, kube::IntOrString& into);
  static void describe(Json& schema);
  static std::string_view type_name() { return "integer or string"; }
  static bool is_empty(const kube::IntOrString& value) { return value == kube::IntOrString{}; }
};
