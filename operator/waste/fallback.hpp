// Work that was counted as kept, and is not: an attempt goes on from an older checkpoint than was
// believed when the attempts before it were settled, because that one is damaged or gone.
//
// Pure. Seconds only change between productive and lost_work: what was held stays, to the second.
// A checkpoint that turns out to be newer gives back in the same way. Failure: none; of attempts
// whose steps nobody knows nothing is moved.
#pragma once

#include <cstdint>
#include <span>

#include "operator/api/training_job_status.hpp"

namespace amdahl::waste {

struct Fallback {
  std::int64_t believed = 0;  // the step that the next attempt was to go on from
  std::int64_t real = 0;      // the one it goes on from; 0: from the beginning
};

// Counts anew what is settled. `attempts`: those before the one that goes on, as the status has
// them. Of an attempt's steps those are kept that no later attempt did again; its seconds go by
// steps, as they did when it was settled. Seconds of attempts that the status has forgotten go by
// the steps below the oldest that it remembers.
void recount(api::GpuSecondsStatus& account, std::span<const api::AttemptStatus> attempts,
             const Fallback& fallback);

}  // namespace amdahl::waste
