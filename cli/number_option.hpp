// Numbers of the command line that have a smallest value and no largest one.
//
// Thread: one. Failure: the command line is refused with the name of the option.
#pragma once

#include <cstdint>

namespace CLI {
class Option;
}  // namespace CLI

namespace amdahl::cli {

// CLI11's own checks print the largest double when they refuse.
void take_from(std::int64_t least, CLI::Option& option);

}  // namespace amdahl::cli
