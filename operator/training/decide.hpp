// The decision about one TrainingJob: a pure function of what was seen and the time.
//
// No I/O, no log, total. Reads in decide.cpp like the table of contents of the policies, one file
// each; which of them spoke is in Plan::policy.
#pragma once

#include "operator/training/observed.hpp"
#include "operator/training/plan.hpp"
#include "operator/training/pod_options.hpp"

namespace amdahl::training {

Plan decide(const Observed& seen, WallTime now, const PodOptions& options);

}  // namespace amdahl::training
