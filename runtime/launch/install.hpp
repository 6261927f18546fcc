// Puts this program into a folder that the trainer's container also mounts.
//
// Copied beside its final name and renamed, so that nobody ever starts half a program; a second
// install replaces the first. Thread: any. Failure: kIo with the path.
#pragma once

#include <string>

#include "base/result.hpp"

namespace amdahl::launch {

inline constexpr const char* kProgramName = "amdahl-launch";

// The path of the installed program.
Result<std::string> install(const std::string& program, const std::string& folder);

}  // namespace amdahl::launch
