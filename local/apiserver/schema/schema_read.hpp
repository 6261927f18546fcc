// From the JSON of a schema to its compiled form. Inside this library only.
#pragma once

#include "local/apiserver/schema/schema.hpp"

namespace amdahl::local {

// Takes what check_keywords() and check_structural() let through; never fails.
SchemaPtr read_crd_schema(const Json& schema);

// Fills everything of `node` that does not need other nodes.
void read_plain_keywords(const Json& schema, Schema& node);
// Fills the ..._inside members from the children.
void note_what_is_inside(Schema& node);

}  // namespace amdahl::local
