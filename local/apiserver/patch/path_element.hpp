// One element of a field path, as FieldsV1 writes it and as messages show it.
//
// Pure, any thread. Failure: kCorrupt for text that is no element; kTerminal for a list item that
// cannot be told apart from others, in kube-apiserver's words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "local/apiserver/model/merge_shape.hpp"
#include "local/apiserver/patch/patch_limits.hpp"

namespace amdahl::local {

std::string member_element(std::string_view name);  // "f:name"
// The member name of "f:name"; nothing for other kinds.
std::optional<std::string_view> member_name(std::string_view element);

// `k:{...}` or `v:...` of an item, by the keys of the list's shape; key_defaults stand in for keys
// that are left out.
Result<std::string> item_element(const MergeShape& list, const Json& item);
// Of all items in order; nothing when one has none, and the list is better taken as one value.
std::optional<std::vector<std::string>> item_elements(const MergeShape& list, const Json& items);

// The element in canonical form; nothing for a kind we do not know.
Result<std::optional<std::string>> canonical_element(const std::string& element);
// ".name", "[name=\"x\"]", "[=\"x\"]", "[3]".
std::string shown_element(const std::string& element);
std::string shown_path(const std::vector<std::string>& path);

}  // namespace amdahl::local
