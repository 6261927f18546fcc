// Filling in a schema's defaults, in place, as Kubernetes does.
//
// Pure; any thread; never fails. A field that is absent gets its default. A null where the schema
// does not allow one gets the default, or is dropped when there is none; in a list it becomes the
// default.
#pragma once

#include "local/apiserver/schema/schema.hpp"

namespace amdahl::local {

void apply_defaults(const Schema& schema, Json& object);

}  // namespace amdahl::local
