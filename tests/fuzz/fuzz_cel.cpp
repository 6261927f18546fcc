// Any text as a rule: it is refused, or it runs to an end within its bound, twice the same way.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/check.hpp"
#include "local/apiserver/schema/schema.hpp"
#include "local/apiserver/schema/validate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using amdahl::local::Json;
  static const Json kSchema = Json::parse(R"json({"type": "object", "properties": {"spec": {
    "type": "object", "properties": {
      "n": {"type": "integer"}, "d": {"type": "number"}, "s": {"type": "string"},
      "b": {"type": "boolean"}, "l": {"type": "array", "items": {"type": "integer"}},
      "m": {"type": "object", "additionalProperties": {"type": "string"}},
      "p": {"x-kubernetes-int-or-string": true}, "w": {"type": "string", "format": "duration"},
      "o": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}})json");
  static const Json kObject = Json::parse(R"json({"spec": {"n": 3, "d": 1.5, "s": "abc", "b": true,
    "l": [1, 2, 3], "m": {"k": "v"}, "p": "80%", "w": "10s", "o": {"x": [1]}}})json");
  Json schema = kSchema;
  const std::string rule(reinterpret_cast<const char*>(data), size);
  schema["properties"]["spec"]["x-kubernetes-validations"] =
      Json::array({{{"rule", rule}, {"message", "m"}}});
  const auto compiled = amdahl::local::compile_crd_schema(schema, {});
  if (compiled.schema == nullptr) return 0;
  const auto causes = amdahl::local::validate(*compiled.schema, kObject, &kObject);
  AMDAHL_CHECK(causes == amdahl::local::validate(*compiled.schema, kObject, &kObject));
  AMDAHL_CHECK(causes.size() <= 1);
  return 0;
}
