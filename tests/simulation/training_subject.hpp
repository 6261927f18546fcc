// TrainingJobs in the simulation: the production controller, and what its users do.
#pragma once

#include "tests/simulation/subject.hpp"

namespace amdahl::simulation {

Subject training_subject();
// Its workloads are the documented lives of a job, one job a world.
Subject one_job_subject();
// The same with launchers: lives that depend on what ranks report and are told.
Subject launched_subject();

}  // namespace amdahl::simulation
