// The operator inside the process of `amdahl local up`, as one more client of its API server.
//
// Thread: one. Lifetime: the components own what is added. Failure: as of any component.
#pragma once

#include <string>

#include "base/rng.hpp"
#include "local/cluster/components.hpp"

namespace amdahl::cli {

// The definition of TrainingJob, as JSON.
std::string training_job_definition();

// `launch` is amdahl-launch on this machine; empty: trainers run without it, and nothing reports.
void add_operator(local::Components& components, Rng rng, std::string launch);

}  // namespace amdahl::cli
