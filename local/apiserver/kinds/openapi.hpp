// OpenAPI v3 of everything that is served: what `kubectl explain` and validation by kubectl read.
//
// Pure functions of the tables. A document holds the paths with their kind and parameters, and the
// schemas reachable from the kinds; the texts are ours. Failure: none; a group and version that is
// not served gives an empty optional, which is HTTP 404.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "local/apiserver/kinds/builtin_schemas.hpp"
#include "local/apiserver/kinds/kind.hpp"

namespace amdahl::local {

// GET /openapi/v3
Json openapi_index(const KindTable& kinds);
// GET /openapi/v3/api/v1 (group "") and /openapi/v3/apis/<group>/<version>
std::optional<Json> openapi_document(const KindTable& kinds, const BuiltinSchemas& schemas,
                                     std::string_view group, std::string_view version);

}  // namespace amdahl::local
