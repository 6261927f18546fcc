// The oracles that need the fault-free reference: the same end, and no object made or deleted more
// often than there. Pure.
#pragma once

#include <string>
#include <vector>

#include "tests/simulation/world.hpp"

namespace amdahl::simulation {

// What is wrong with the run, the most telling first; empty: nothing.
std::vector<std::string> judge(const RunOptions& options, const RunResult& run,
                               const RunResult& reference);

}  // namespace amdahl::simulation
