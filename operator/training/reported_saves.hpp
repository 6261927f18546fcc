// What the ranks reported of their checkpoints, into a status: the newest that is committed, saves
// that failed, and the steps that both prove.
//
// Pure. Failure: none; a report is a claim of its pod, and stands in the status as such.
#pragma once

#include "operator/training/situation.hpp"

namespace amdahl::training {

// The last attempt of `next` is the one whose pods were seen.
void take_saves(api::TrainingJobStatus& next, const Situation& s);

}  // namespace amdahl::training
