#include "operator/kube/int_or_string.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_reader.hpp"
#include "base/wire_reader.hpp"

namespace amdahl {

using kube::IntOrString;

bool FieldCodec<IntOrString>::read(JsonValue& from, IntOrString& into) {
  if (from.kind() == JsonKind::kString) {
    const auto text = from.string();
    if (text) into.value = std::string(*text);
    return text.has_value();
  }
  if (from.kind() != JsonKind::kNumber) return from.reject("expected an integer or a string");
  const auto number = from.integer();
  if (!number) return false;
  if (!std::in_range<std::int32_t>(*number)) return from.reject("integer out of range");
  into.value = static_cast<std::int32_t>(*number);
  return true;
}

Json FieldCodec<IntOrString>::write(const IntOrString& value) {
  return std::visit([](const auto& held) { return Json(held); }, value.value);
}

// {1: type, 0 for integer and 1 for string, 2: integer, 3: string}
bool FieldCodec<IntOrString>::read_wire(const WireValue& from, IntOrString& into) {
  const auto bytes = from.bytes();
  if (!bytes) return false;
  std::int64_t type = 0;
  std::int64_t number = 0;
  std::string_view text;
  WireMessage message(*bytes, *from.walk);
  WireValue part;
  while (message.next(part)) {
    if (part.field == 1) type = part.integer().value_or(0);
    if (part.field == 2) number = part.integer().value_or(0);
    if (part.field == 3) text = part.string().value_or("");
  }
  if (from.walk->failed()) return false;
  if (!std::in_range<std::int32_t>(number)) return from.reject("integer out of range");
  if (type == 0)
    into.value = static_cast<std::int32_t>(number);
  else
    into.value = std::string(text);
  return true;
}

void FieldCodec<IntOrString>::describe(Json& schema) {
  schema["x-kubernetes-int-or-string"] = true;
  schema["anyOf"] = Json::array({{{"type", "integer"}}, {{"type", "string"}}});
}

}  // namespace amdahl
