// The part of a schema that patches need.
//
// Pure; any thread; never fails. As in Kubernetes a list is atomic and a map granular unless the
// schema says otherwise; places the schema leaves open are untyped. Resources have metadata's
// shape.
#pragma once

#include "local/apiserver/model/merge_shape.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace amdahl::local {

MergeShapePtr merge_shape_of(const Schema& schema, bool resource_root = true);

}  // namespace amdahl::local
