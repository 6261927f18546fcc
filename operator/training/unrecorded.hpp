// Attempts whose pods are made before they are on record (docs/adr/0019, 0027).
//
// Their number follows from the status, and their pods from a spec that cannot change before it is
// suspended; whoever comes next finds the pods and goes on with them. So a gang is not kept waiting
// for a status, and the status that follows has more to say. Pure. Failure: none.
#pragma once

#include "operator/training/plan.hpp"
#include "operator/training/situation.hpp"

namespace amdahl::training {

// What would be done if `next`, in which an attempt begins, were on record. With a status the plan
// puts the attempt on record, by `move`. Without a status and without acts, it waits for one of its
// pods to move.
Plan start_unrecorded(const Situation& s, const api::TrainingJobStatus& next, Move move);

}  // namespace amdahl::training
