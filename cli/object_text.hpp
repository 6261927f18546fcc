// Whole objects as text. Pure. Failure: none; bytes that are no UTF-8 are replaced.
#pragma once

#include <string>
#include <string_view>

#include "base/fields.hpp"

namespace amdahl::cli {

// As "json" or "yaml", with a newline at the end. Characters that a terminal obeys are escaped; an
// object that has them is JSON in both formats.
std::string object_text(const Json& object, std::string_view format);

}  // namespace amdahl::cli
