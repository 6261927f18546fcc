// The whole command line: reads it, runs the verb, says what went wrong.
//
// Thread: one. Failure: none; the exit code tells, and standard error has "amdahl: ...".
#pragma once

#include <span>

#include "cli/program.hpp"

namespace amdahl::cli {

// `words` are those of main(), the program's name first.
int run(const Program& given, std::span<const char* const> words);

}  // namespace amdahl::cli
