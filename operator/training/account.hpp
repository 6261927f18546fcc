// GPU-seconds of a job: from the moment a pod has its node until nothing more will be heard of it.
//
// Pure. A figure that grows by itself is no reason to write a status (Q7): it is brought up to date
// when something else is written, and settled once all pods of an attempt are over, before their
// finalizers go. Settling again gives the same figure, so a crash between loses and doubles
// nothing.
#pragma once

#include "operator/training/attempts.hpp"

namespace amdahl::training {

// Brings the records of attempts that still have pods up to date.
void account_held(TrainingJobStatus& next, const Situation& s);

// The attempt after the first `attempts` of the status goes on from step `real`, and not from
// `believed`: what those lost is said anew, of the newest in steps, of all in GPU-seconds. What is
// not settled yet follows from the steps; the sums of the status follow with account_held().
void recount_lost(TrainingJobStatus& next, std::size_t attempts, std::int64_t believed,
                  std::int64_t real);

// Whether all that can be known of the attempt's pods is in its record.
bool is_settled(const Situation& s, std::uint32_t attempt);

}  // namespace amdahl::training
