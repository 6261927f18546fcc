// A schema and an object, one line each: compiling, pruning, defaulting and validating end, and
// what was pruned and defaulted once stays as it is.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/check.hpp"
#include "local/apiserver/schema/defaults.hpp"
#include "local/apiserver/schema/merge_shape_of.hpp"
#include "local/apiserver/schema/prune.hpp"
#include "local/apiserver/schema/schema.hpp"
#include "local/apiserver/schema/validate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using amdahl::local::Json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  const Json schema = Json::parse(text.substr(0, line), nullptr, false);
  if (schema.is_discarded()) return 0;
  (void)amdahl::local::compile_builtin_schema(schema, nullptr);
  const auto compiled = amdahl::local::compile_crd_schema(schema, {});
  AMDAHL_CHECK((compiled.schema == nullptr) == !compiled.causes.empty());
  if (compiled.schema == nullptr || line == std::string_view::npos) return 0;
  AMDAHL_CHECK(amdahl::local::merge_shape_of(*compiled.schema) != nullptr);
  Json object = Json::parse(text.substr(line + 1), nullptr, false);
  if (!object.is_object()) return 0;
  const Json given = object;
  amdahl::local::prune(*compiled.schema, object);
  amdahl::local::apply_defaults(*compiled.schema, object);
  Json again = object;
  AMDAHL_CHECK(amdahl::local::prune(*compiled.schema, again).empty());
  amdahl::local::apply_defaults(*compiled.schema, again);
  AMDAHL_CHECK(again == object);
  (void)amdahl::local::validate(*compiled.schema, object, nullptr);
  (void)amdahl::local::validate(*compiled.schema, object, &given);
  return 0;
}
