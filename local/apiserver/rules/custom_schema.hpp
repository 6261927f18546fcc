// Schemas of custom resources, for ServedKinds: the only file here that knows both.
//
// Pure. Failure: a definition whose schema does not compile has no schema, and its objects are kept
// as they come; the rules of definitions (kinds) keep such a one from being stored.
#pragma once

#include <string>
#include <vector>

#include "local/apiserver/core/status.hpp"
#include "local/apiserver/kinds/kind.hpp"
#include "local/apiserver/model/merge_shape.hpp"

namespace amdahl::local {

struct Schema;
using SchemaPtr = std::shared_ptr<const Schema>;

SchemaPtr compile_schema_of(const Kind& kind);
MergeShapePtr shape_of(const Schema& schema);

// Drops what the schema does not know; the texts say what.
Outcome<std::vector<std::string>> decode_custom(const Schema& schema, Json& object);
void default_custom(const Schema& schema, Json& object);
// A write of a custom resource that is to be judged. `old` is null for a new object. Causes found
// in metadata come first, and may keep rules from running.
struct CustomWrite {
  const ScalePaths& scale;
  const Json& object;
  const Json* old = nullptr;
  std::vector<Cause> of_metadata = {};
};
std::vector<Cause> validate_custom(const Schema& schema, CustomWrite write);
// The same through the status subresource, where other rules hold; `old` is there.
std::vector<Cause> validate_custom_status(const Schema& schema, CustomWrite write);

}  // namespace amdahl::local
