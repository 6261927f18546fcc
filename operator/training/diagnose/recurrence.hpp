// Whether an attempt ended like the ones before, so that another one is pointless.
//
// Pure. Two ends are the same when class and artifact are: the exception with its last frame, the
// image, the node, the operation. Steps that were kept between them mean that it gets on, and the
// failure budget may be refilled. What was not the job's fault, and pauses, count neither way.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "operator/api/training_job_status.hpp"
#include "operator/training/diagnose/diagnose.hpp"

namespace amdahl::training {

inline constexpr std::uint32_t kSameEndMax = 3;      // ends in a row without progress, then stop
inline constexpr std::uint32_t kSameEndOnceMax = 2;  // where one more try was all the advice

// What makes a cause the same in two attempts; nothing for causes that may repeat by chance.
std::optional<std::string> artifact_of(const api::Cause& cause);

// The step up to which an attempt's work is safe; nothing when no step is known.
std::optional<std::int64_t> kept_step(const api::AttemptStatus& attempt);

struct Recurrence {
  std::uint32_t same = 1;            // how often in a row it ended like this, the last one included
  bool progressed = false;           // steps were kept since the attempt before: refill the budget
  Advice advice = Advice::kCarryOn;  // the diagnosis's, or kStop
  std::string reason = {};           // for people, when this made it stop
};

// `history` holds the attempts before `ended`, oldest first, as the status has them.
Recurrence judge_recurrence(std::span<const api::AttemptStatus> history,
                            const api::AttemptStatus& ended, Advice advice);

}  // namespace amdahl::training
