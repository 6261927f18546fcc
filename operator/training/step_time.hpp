// When the last step was made, and what a silent workload no longer has. Pure.
#pragma once

#include "operator/training/situation.hpp"

namespace amdahl::training {

// Before the report is taken into the progress of the attempt that goes on.
void note_step_time(api::TrainingJobStatus& next, const api::Report& report, const Situation& s);

// Speed and remaining time of a workload that makes no steps would be those of an hour ago.
void forget_speed_in_silence(api::ProgressStatus& progress, WallTime now);

}  // namespace amdahl::training
