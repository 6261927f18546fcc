#include "operator/api/phase.hpp"

#include <catch2/catch.hpp>

namespace amdahl::api {
namespace {

using enum ConditionStatus;

Condition make(std::string_view type, ConditionStatus status, std::string_view why) {
  return {.type = std::string(type), .status = status, .reason = std::string(why)};
}

struct Row {
  std::vector<Condition> conditions = {};
  std::int32_t created = 0;
  std::string pending = {};
  Phase phase = Phase::kUnknown;
  std::string_view reason = {};
};

const Condition kQueuedHere = make(condition::kAdmitted, kFalse, reason::kQueued);
const Condition kBoundHere = make(condition::kAdmitted, kTrue, reason::kBound);
const Condition kRunningHere = make(condition::kRunning, kTrue, reason::kAllRanksStarted);
const Condition kFailedHere = make(condition::kFailed, kTrue, reason::kFailureBudgetSpent);

const Row kRows[] = {
    {.phase = Phase::kPending},
    {{make(condition::kAdmitted, kUnknown, reason::kNotCreated)},
     0,
     "",
     Phase::kPending,
     "NotCreated"},
    {{make(condition::kAdmitted, kFalse, reason::kPodsRefused)},
     0,
     "",
     Phase::kPending,
     "PodsRefused"},
    // Fixed admission: in the queue without a pod.
    {{kQueuedHere}, 0, "NotEnoughResources", Phase::kQueued, "NotEnoughResources"},
    {{kQueuedHere}, 2, "", Phase::kQueued, "Queued"},
    {{make(condition::kAdmitted, kFalse, reason::kNotCreated)},
     1,
     "",
     Phase::kQueued,
     "NotCreated"},
    {{kBoundHere}, 2, "", Phase::kStarting, ""},
    {{kBoundHere, make(condition::kRunning, kFalse, reason::kWaitingForRanks)},
     2,
     "",
     Phase::kStarting,
     "WaitingForRanks"},
    {{kBoundHere, kRunningHere}, 2, "", Phase::kRunning, "AllRanksStarted"},
    {{kBoundHere, make(condition::kRunning, kFalse, reason::kRestarting)},
     2,
     "",
     Phase::kRestarting,
     "Restarting"},
    {{kBoundHere, kRunningHere, make(condition::kSuspended, kFalse, reason::kPausing)},
     2,
     "",
     Phase::kPausing,
     "Pausing"},
    // Committed, and no checkpoint in time: it runs on.
    {{kBoundHere, kRunningHere, make(condition::kSuspended, kFalse, reason::kPauseRefused)},
     2,
     "",
     Phase::kRunning,
     "AllRanksStarted"},
    {{kBoundHere, make(condition::kSuspended, kTrue, reason::kPaused)},
     0,
     "",
     Phase::kPaused,
     "Paused"},
    {{kRunningHere, make(condition::kSucceeded, kTrue, reason::kCompleted)},
     2,
     "",
     Phase::kSucceeded,
     "Completed"},
    {{kFailedHere, make(condition::kSuspended, kTrue, reason::kPaused)},
     0,
     "",
     Phase::kFailed,
     "FailureBudgetSpent"},
    {{make(condition::kCancelled, kTrue, reason::kCancelRequested)},
     0,
     "",
     Phase::kCancelled,
     "CancelRequested"},
    // Terminal conditions that are not True say nothing.
    {{make(condition::kFailed, kFalse, reason::kNotFinished), kBoundHere, kRunningHere},
     2,
     "",
     Phase::kRunning,
     "AllRanksStarted"},
};

TEST_CASE("summarize names the phase and its reason from conditions and counters") {
  for (const Row& row : kRows) {
    TrainingJobStatus status{.conditions = row.conditions,
                             .workers = WorkersStatus{.desired = 2, .created = row.created}};
    if (!row.pending.empty()) status.pending = PendingStatus{.reason = row.pending};
    CAPTURE(enum_name(row.phase), row.reason, row.created);
    const Summary summary = summarize(status);
    CHECK(enum_name(summary.phase) == enum_name(row.phase));
    CHECK(summary.reason == row.reason);
    status.phase = Phase::kCancelled;  // what was said before does not matter
    CHECK(summarize(status) == summary);
  }
}

TEST_CASE("summarize reaches every phase but Unknown") {
  std::vector<Condition> conditions;
  const auto now = [&](Condition next) {
    std::erase_if(conditions, [&](const Condition& old) { return old.type == next.type; });
    conditions.push_back(std::move(next));
    return summarize({.conditions = conditions}).phase;
  };
  std::vector<Phase> seen = {summarize({}).phase};
  seen.push_back(now(kQueuedHere));
  seen.push_back(now(kBoundHere));
  seen.push_back(now(kRunningHere));
  seen.push_back(now(make(condition::kRunning, kFalse, reason::kRestarting)));
  seen.push_back(now(make(condition::kSuspended, kFalse, reason::kPausing)));
  seen.push_back(now(make(condition::kSuspended, kTrue, reason::kPaused)));
  seen.push_back(now(make(condition::kSucceeded, kTrue, reason::kCompleted)));
  seen.push_back(now(kFailedHere));
  seen.push_back(now(make(condition::kCancelled, kTrue, reason::kCancelRequested)));
  std::vector<Phase> all;
  for (const auto& entry : enum_names(Phase{}))
    if (entry.value != Phase::kUnknown) all.push_back(entry.value);
  CHECK(seen == all);
}

}  // namespace
}  // namespace amdahl::api
