// The account of the GPU-seconds a job has held: from bind to release of every pod of every
// attempt, split by what they were held for. The parts sum to what was held, to the second.
//
// Pure. Attempts that have ended and released everything are settled: their sums move into the
// status, and their pods need not be remembered. Failure: none; what nobody can say is
// unattributed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "operator/api/training_job_status.hpp"
#include "operator/waste/timeline.hpp"

namespace amdahl::waste {

struct AttemptAccount {
  std::int32_t number = 0;
  std::int64_t held = 0;  // GPU-seconds
  PerPhase<std::int64_t> phases = {};
};
AttemptAccount account_attempt(const AttemptTimeline& attempt, WallTime now);

struct AccountInput {
  std::optional<api::GpuSecondsStatus> previous = {};  // as the status has it
  std::span<const api::AttemptStatus> recorded = {};   // as the status has them
  std::span<const AttemptTimeline> timelines = {};     // what is known of attempts not yet settled
  WallTime now = {};
};
struct Account {
  api::GpuSecondsStatus total = {};
  std::vector<AttemptAccount> attempts = {};  // those that were not settled before, by number
};
// Never less than the status says an attempt has held, even when its pods are forgotten.
Account account(const AccountInput& input);

// Whole numbers in the proportion of `parts` that sum to the sum of parts divided by `unit`,
// rounded down: largest remainders first, equal ones in the order of phases.
PerPhase<std::int64_t> apportion(const PerPhase<WideMicros>& parts, WideMicros unit);

}  // namespace amdahl::waste
