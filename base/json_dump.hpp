// A JSON tree as compact text: byte for byte what nlohmann's dump() writes, several times faster.
//
// Bytes that are no UTF-8 are replaced by U+FFFD. Thread: any. Failure: none; the depth of the tree
// is the caller's to bound, as for dump().
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace amdahl {

std::string dump_json(const nlohmann::json& value);
void append_json(std::string& text, const nlohmann::json& value);

}  // namespace amdahl
