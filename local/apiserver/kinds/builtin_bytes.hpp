// The bytes of builtin_schemas.json, linked into the program.
#pragma once

#include <string_view>

namespace amdahl::local {

std::string_view builtin_schema_bytes();

}  // namespace amdahl::local
