#include "local/apiserver/rules/custom_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.hpp"
#include "local/apiserver/rules/scale_values.hpp"
#include "local/apiserver/schema/defaults.hpp"
#include "local/apiserver/schema/merge_shape_of.hpp"
#include "local/apiserver/schema/prune.hpp"
#include "local/apiserver/schema/schema.hpp"
#include "local/apiserver/schema/validate.hpp"

namespace amdahl::local {

SchemaPtr compile_schema_of(const Kind& kind) {
  if (!kind.schema) return nullptr;
  return compile_crd_schema(*kind.schema, {.status_subresource = kind.has_status}).schema;
}

MergeShapePtr shape_of(const Schema& schema) {
  return merge_shape_of(schema);
}

Outcome<std::vector<std::string>> decode_custom(const Schema& schema, Json& object) {
  if (!nests_within(object, kObjectDepthMax)) return bad_request("the object is nested too deeply");
  std::vector<std::string> texts;
  for (const std::string& path : prune(schema, object))
    texts.push_back(fmt::format("unknown field \"{}\"", path));
  return texts;
}

void default_custom(const Schema& schema, Json& object) {
  apply_defaults(schema, object);
}

std::vector<Cause> validate_custom(const Schema& schema, CustomWrite write) {
  std::vector<Cause> of_scale = scale_spec_causes(write.scale, write.object);
  std::ranges::move(scale_status_causes(write.scale, write.object), std::back_inserter(of_scale));
  return validate(schema, write.object, write.old,
                  {.of_metadata = std::move(write.of_metadata), .of_scale = std::move(of_scale)});
}

std::vector<Cause> validate_custom_status(const Schema& schema, CustomWrite write) {
  AMDAHL_CHECK(write.old != nullptr);
  return validate_status(schema, write.object, *write.old,
                         {.of_metadata = std::move(write.of_metadata),
                          .of_scale = scale_status_causes(write.scale, write.object)});
}

}  // namespace amdahl::local
