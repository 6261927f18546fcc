// What makes a kube-apiserver refuse a CRD's schema. Inside this library only; compile_crd_schema()
// in schema.hpp puts them together. All take a schema that passed check_keywords().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "local/apiserver/schema/schema.hpp"

namespace amdahl::local {

// Structurality: types everywhere, junctors hold value validations only, metadata stays implicit.
// Sorted by their text, as the server sorts them.
std::vector<Cause> check_structural(const Json& schema, const std::string& prefix);

// Each keyword by itself, list types and their keys, and rules. `compiled` is null when the schema
// is not structural: then rules are not looked into.
std::vector<Cause> check_openapi(const Json& schema, const Schema* compiled,
                                 const CrdSchemaOptions& options);

// List types, map types and the keys of list maps, at one node.
void check_list_types(const Json& schema, const std::string& path, std::vector<Cause>& causes);

// Defaults have to be pruned and valid.
std::vector<Cause> check_defaults(const Schema& schema, const std::string& prefix);

// What only the root of a schema with a status subresource may have.
std::vector<Cause> check_root(const Json& schema, const CrdSchemaOptions& options);

}  // namespace amdahl::local
