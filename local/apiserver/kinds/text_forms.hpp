// The text forms inside JSON values that the API server reads and writes again in its own way.
//
// Pure functions over one value. Failure: Errc::kInvalid with the text Go's libraries give.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace amdahl::local {

// A string or number becomes the canonical string: 0.5 is "500m".
Result<void> canonical_quantity(nlohmann::json& value);
// RFC 3339 becomes UTC; without microseconds unless `micro`, which asks for exactly six digits.
Result<void> canonical_time(nlohmann::json& value, bool micro);
Result<void> check_base64(std::string_view text);

}  // namespace amdahl::local
