// The operator inside the process of `amdahl local up`, as one more client of its API server.
//
// Thread: one. Lifetime: the components own what is added. Failure: as of any component.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/rng.hpp"
#include "local/cluster/components.hpp"

namespace amdahl::cli {

// The definition of TrainingJob, as JSON.
std::string training_job_definition();

// `launch` is amdahl-launch on this machine; empty: trainers run without it, and nothing reports.
// `variable` gives what the environment says of stores of checkpoints.
void add_operator(local::Components& components, Rng rng, std::string launch,
                  std::function<std::string(std::string_view)> variable);

}  // namespace amdahl::cli
