// TrainingJobs in the simulation: the production controller, and what its users do.
#pragma once

#include "tests/simulation/subject.hpp"

namespace amdahl::simulation {

Subject training_subject();

}  // namespace amdahl::simulation
