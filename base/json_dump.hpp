// A JSON tree as compact text and back: byte for byte what nlohmann's dump() writes, several times
// faster.
//
// Bytes that are no UTF-8 are replaced by U+FFFD. Thread: any. Failure: none of dump_json(); the
// depth of the tree is the caller's to bound, as for dump().
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace amdahl {

std::string dump_json(const nlohmann::json& value);
void append_json(std::string& text, const nlohmann::json& value);
// The tree that dump_json() wrote the text from. It knows that there is no white space and that
// members are sorted, so it is not for text of others. Failure: a discarded value.
nlohmann::json read_dump(std::string_view text);

}  // namespace amdahl
