// The link seam of base/rules.hpp for the simulation: the rule that the present run does without.
#pragma once

#include <optional>

#include "base/rules.hpp"

namespace amdahl::simulation {

void switch_off(std::optional<Rule> rule);

}  // namespace amdahl::simulation
