// JSON text to a tree, without the liberties that two readers may take differently: a name that
// appears twice, a number that is not a 64-bit integer, a byte-order mark, bad UTF-8, anything
// after the end, and nesting deeper than the caller wants are refused.
//
// It does not use base/json_reader.hpp, because simdjson cannot be linked into static programs.
// Thread: any. Failure: Errc::kCorrupt for what is no JSON, kInvalid and kTooLarge for the rest.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace amdahl::checkpoint {

using Json = nlohmann::json;

Result<Json> parse_strict(std::string_view text, int depth_max);

// For messages: in quotes, with escapes, cut when long.
std::string shown(std::string_view name);

}  // namespace amdahl::checkpoint
