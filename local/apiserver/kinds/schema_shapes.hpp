// What patches and readers of whole schemas need of the built-in kinds' structure.
//
// Pure functions over the schemas of builtin_schemas.hpp. A type that contains itself is cut where
// it would repeat.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "local/apiserver/model/merge_shape.hpp"

namespace amdahl::local {

using SchemaMap = std::map<std::string, nlohmann::json, std::less<>>;

MergeShapePtr merge_shape_of(const SchemaMap& schemas, std::string_view name);
nlohmann::json resolve_schema(const SchemaMap& schemas, std::string_view name);

}  // namespace amdahl::local
