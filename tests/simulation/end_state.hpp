// What a world looks like at its end, without what differs between two equal runs. Pure.
#pragma once

#include <string>
#include <vector>

#include "local/apiserver/core/object_table.hpp"
#include "tests/simulation/subject.hpp"

namespace amdahl::simulation {

EndState end_state(const local::ObjectTable& table);

// The paths of objects that have an owner: what a foreign hand may touch.
std::vector<std::string> child_paths(const local::ObjectTable& table);

}  // namespace amdahl::simulation
