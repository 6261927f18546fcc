// What rules always know at the root of a resource: apiVersion, kind, metadata.name and
// metadata.generateName. Inside this library only.
#pragma once

#include <string_view>

#include "local/apiserver/schema/schema.hpp"

namespace amdahl::local::cel {

// The schema of apiVersion, kind or metadata; null for other names.
const Schema* meta_names(std::string_view field);

}  // namespace amdahl::local::cel
