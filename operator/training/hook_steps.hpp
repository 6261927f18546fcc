// Steps that hooks counted (api::StepSource::kHook), beside ranks that tell of steps.
//
// Hooks count on every rank, also where one rank prints for all of them. What is printed or told is
// the step of the job, and may have a total and other units, so ranks are never compared by both.
// Pure. Failure: none.
#pragma once

#include "operator/training/observed.hpp"

namespace amdahl::training {

// If a rank of the job's attempt tells of steps, those that hooks counted on others are left out.
void leave_out_hook_steps(Observed& seen);

}  // namespace amdahl::training
