// Dropping what a schema does not know, in place.
//
// Pure; any thread; never fails. At the root of a resource, and of each embedded one, apiVersion,
// kind and metadata are always known, and metadata has its own fixed list of fields; what it leaves
// out or says as null, "" or {} is dropped there without being reported, because Kubernetes reads
// metadata into a struct and writes it again.
#pragma once

#include <string>
#include <vector>

#include "local/apiserver/schema/schema.hpp"

namespace amdahl::local {

// The paths of what was dropped, sorted ("spec.foo", "spec.list[0].bar"): with fieldValidation each
// is shown as: unknown field "spec.foo". At most kDroppedPathsMax are named; everything is dropped.
std::vector<std::string> prune(const Schema& schema, Json& object, bool resource_root = true);
inline constexpr std::size_t kDroppedPathsMax = 1'000;

// The part for metadata alone: `path` is where it stands.
void prune_object_meta(Json& meta, const std::string& path, std::vector<std::string>& dropped);

}  // namespace amdahl::local
