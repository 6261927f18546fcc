// Why a gang that exists does not run yet, in words. Pure.
#pragma once

#include "operator/training/situation.hpp"

namespace amdahl::training {

// It fits nowhere in the cluster, however long it waits.
bool is_too_large(const Situation& s);

// Looks at every rank: not to be asked for every event of a large gang.
api::PendingStatus explain_waiting(const Situation& s);
// Why the API server took no pod of it in this pass: needs seen.refusal.
api::PendingStatus explain_refusal(const Situation& s);

}  // namespace amdahl::training
