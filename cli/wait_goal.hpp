// What `wait` waits for, and whether it has come, may still come, or cannot come any more.
//
// Pure, any thread. Failure: Errc::kInvalid for a goal that has no meaning.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cli/training_jobs.hpp"

namespace amdahl::cli {

struct Goal {
  std::string text = {};       // as it was written
  bool finished = false;       // any end will do
  std::string condition = {};  // else this condition
  api::ConditionStatus status = api::ConditionStatus::kTrue;
};

// Running, Paused, Succeeded, Failed, Cancelled, Finished; the name of a condition, with "=True",
// "=False" or "=Unknown"; "condition=NAME" for one that this program does not know.
Result<Goal> parse_goal(std::string_view text);

enum class GoalState : std::uint8_t { kOpen, kReached, kNever };
struct GoalVerdict {
  GoalState state = GoalState::kOpen;
  std::string said = {};  // for people
};
// A status that is older than the spec says nothing about what was asked for since.
GoalVerdict judge(const Goal& goal, const TrainingJob& job);

}  // namespace amdahl::cli
