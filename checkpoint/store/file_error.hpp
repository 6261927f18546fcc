// What a failed system call means to a user: what was tried, on which path, and the next step.
//
// Pure. Thread: any.
#pragma once

#include <string_view>

#include "base/result.hpp"

namespace amdahl::checkpoint {

// `error` is an errno, with either sign.
std::unexpected<Error> file_error(long error, std::string_view doing, std::string_view path);

}  // namespace amdahl::checkpoint
