// Reading keywords of one node of an openAPIV3Schema. Inside this library only.
//
// check_keywords() comes first: afterwards every keyword that is there has the JSON type it should
// have, and the readers below need no checks. A keyword that is null counts as absent, as in Go.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "local/apiserver/schema/schema.hpp"

namespace amdahl::local {

// What is wrong with the JSON types of keywords, and with depth and size, anywhere in the schema.
std::vector<Cause> check_keywords(const Json& schema, std::string_view prefix);

const Json* keyword(const Json& node, std::string_view name);  // null: absent
std::string_view text_of(const Json& node, std::string_view name);
bool flag_of(const Json& node, std::string_view name);
std::vector<std::string> texts_of(const Json& node, std::string_view name);
const Json& nodes_of(const Json& node, std::string_view name);   // an array; empty when absent
const Json& fields_of(const Json& node, std::string_view name);  // an object; empty when absent
const Json* item_schema_of(const Json& node);                    // items, when it is one schema
const Json* other_schema_of(const Json& node);  // additionalProperties, when it is a schema

// "a" and "b" -> "a.b"; "" and "b" -> "b".
std::string path_child(std::string_view path, std::string_view name);
std::string path_key(std::string_view path, std::string_view key);
std::string path_index(std::string_view path, std::size_t index);

}  // namespace amdahl::local
