// How to walk a value along its MergeShape: the shape of a child, and what a value is there.
//
// Pure, any thread. A shape of null is kUntyped, and so is everything below it.
#pragma once

#include <cstdint>
#include <string_view>

#include "local/apiserver/model/merge_shape.hpp"

namespace amdahl::local {

// What a value is where it stands: a value that does not fit its shape is one leaf.
enum class Form : std::uint8_t { kLeaf, kMembers, kSet, kKeyed };

Form form_of(const MergeShape* shape, const nlohmann::json& value);
const MergeShape* member_shape(const MergeShape* shape, std::string_view name);
const MergeShape* item_shape(const MergeShape* shape);
// A field of a struct, as opposed to an entry of a map.
bool is_named(const MergeShape* shape, std::string_view name);

}  // namespace amdahl::local
