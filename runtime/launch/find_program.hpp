// Where a program is, by the rules of a shell.
//
// Thread: any. Failure: kNotFound when there is no such file, kForbidden when there is one that
// cannot be executed.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace amdahl::launch {

Result<std::string> find_program(const std::string& name, std::string_view search_path);

}  // namespace amdahl::launch
