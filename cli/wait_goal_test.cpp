#include "cli/wait_goal.hpp"

#include "cli/job_wish.hpp"
#include "cli/test_jobs.hpp"

namespace amdahl::cli {
namespace {

std::string status_with(const std::vector<std::string>& conditions, int observed = 2) {
  std::string list;
  for (const std::string& one : conditions) list += (list.empty() ? "" : ",") + one;
  return fmt::format(R"({{"observedGeneration": {}, "conditions": [{}]}})", observed, list);
}

const std::string kIsRunning = test_condition("Running", "True", "AllRanksStarted");
const std::string kIsPaused = test_condition("Suspended", "True", "Paused", "step 12 is safe");
const std::string kIsDone = test_condition("Succeeded", "True", "Completed");
const std::string kHasFailed = test_condition("Failed", "True", "CannotRecover", "no such file");
const std::string kIsCancelled = test_condition("Cancelled", "True", "CancelRequested");

TEST_CASE("A goal is a phase to wait for or a condition") {
  for (const std::string good :
       {"Running", "Paused", "Succeeded", "Failed", "Cancelled", "Finished", "Admitted",
        "Admitted=False", "CheckpointReady=Unknown", "condition=Strange",
        "condition=Strange=False"})
    CHECK(parse_goal(good));
  for (const std::string bad : {"", "running", "Pending", "Strange", "Admitted=maybe", "=True",
                                "condition=", "condition=lower", "Running=", "Finished=True"}) {
    INFO(bad);
    const auto goal = parse_goal(bad);
    REQUIRE(!goal);
    CHECK(goal.error().code == Errc::kInvalid);
  }
}

TEST_CASE("A goal is reached, open, or out of reach") {
  struct Row {
    std::string goal;
    std::vector<std::string> conditions;
    GoalState state;
  };
  using enum GoalState;
  const Row rows[] = {
      {"Running", {}, kOpen},
      {"Running", {kIsRunning}, kReached},
      {"Running", {kIsPaused}, kOpen},
      {"Running", {kHasFailed}, kNever},
      {"Paused", {kIsPaused}, kReached},
      {"Paused", {kIsDone}, kNever},
      {"Succeeded", {kIsRunning}, kOpen},
      {"Succeeded", {kIsDone}, kReached},
      {"Succeeded", {kHasFailed}, kNever},
      {"Succeeded", {kIsCancelled}, kNever},
      {"Failed", {kHasFailed}, kReached},
      {"Failed", {kIsDone}, kNever},
      {"Cancelled", {kIsCancelled}, kReached},
      {"Finished", {kIsRunning}, kOpen},
      {"Finished", {kIsDone}, kReached},
      {"Finished", {kHasFailed}, kReached},
      {"Running=False", {kIsRunning}, kOpen},
      {"Running=False", {test_condition("Running", "False", "NotRunning")}, kReached},
      {"condition=Strange", {kIsDone}, kNever},
  };
  for (const Row& row : rows) {
    INFO(row.goal);
    const auto goal = parse_goal(row.goal);
    REQUIRE(goal);
    CHECK(judge(*goal, test_job(status_with(row.conditions))).state == row.state);
  }
}

TEST_CASE("A status that is older than the spec reaches nothing but an end") {
  const auto paused = parse_goal("Paused");
  const auto done = parse_goal("Succeeded");
  REQUIRE((paused && done));
  CHECK(judge(*paused, test_job(status_with({kIsPaused}, 1))).state == GoalState::kOpen);
  CHECK(judge(*done, test_job(status_with({kIsDone}, 1))).state == GoalState::kReached);
}

TEST_CASE("What cannot be reached says how the job ended") {
  const auto goal = parse_goal("Succeeded");
  REQUIRE(goal);
  CHECK(judge(*goal, test_job(status_with({kHasFailed}))).said ==
        "llama has ended: Failed (CannotRecover)");
}

TEST_CASE("A first look tells whether there is anything to ask for") {
  struct Row {
    Wish wish;
    std::string spec;
    std::vector<std::string> conditions;
    bool ask;
    bool wait;
    int code;
  };
  using enum Wish;
  const std::string suspended = R"({"suspend": true})";
  const std::string cancelled = R"({"cancel": true})";
  const Row rows[] = {
      {kPause, "{}", {kIsRunning}, true, true, kDone},
      {kPause, suspended, {kIsPaused}, false, false, kDone},
      {kPause, suspended, {kIsRunning}, false, true, kDone},
      {kPause, "{}", {kIsDone}, false, false, kFailed},
      {kPause, cancelled, {kIsRunning}, false, false, kFailed},
      {kResume, suspended, {kIsPaused}, true, true, kDone},
      {kResume, "{}", {kIsRunning}, false, false, kDone},
      {kResume, "{}", {}, false, true, kDone},
      {kResume, suspended, {kHasFailed}, false, false, kFailed},
      {kCancel, "{}", {kIsRunning}, true, true, kDone},
      {kCancel, cancelled, {kIsRunning}, false, true, kDone},
      {kCancel, cancelled, {kIsCancelled}, false, false, kDone},
      {kCancel, "{}", {kHasFailed}, false, false, kDone},
  };
  for (const Row& row : rows) {
    const FirstLook look =
        first_look(row.wish, test_job(status_with(row.conditions), row.spec), "amdahl");
    INFO(look.said);
    CHECK(look.ask == row.ask);
    CHECK(look.wait == row.wait);
    CHECK(look.code == row.code);
    CHECK(look.said.empty() == row.ask);
  }
}

TEST_CASE("A pause of a job that nobody has ever saved is refused before it is asked for", "[D2]") {
  const auto first = [](const std::string& status, const std::string& spec, bool lose_steps) {
    const std::string all =
        R"({"observedGeneration": 2, "conditions": [)" + kIsRunning + "]" + status + "}";
    return first_look(Wish::kPause, test_job(all, spec), "amdahl", lose_steps);
  };
  const std::string steps = R"(, "progress": {"step": 598})";
  const FirstLook refused = first(steps, "{}", false);
  CHECK_FALSE(refused.ask);
  CHECK_FALSE(refused.wait);
  CHECK(refused.code == kFailed);
  CHECK(refused.said ==
        "llama is not paused: it has no checkpoint, and a pause would lose its 598 steps unless "
        "its script saves for it. Set spec.checkpoint.uri before its next run, or run "
        "'amdahl pause llama -n research --lose-steps' to pause it anyway");
  CHECK(first(steps, "{}", true).ask);
  CHECK(first(steps, R"({"checkpoint": {"uri": "file:///x"}})", false).ask);
  CHECK(first(steps, R"({"checkpoint": {"pause": {"policy": "BestEffort"}}})", false).ask);
  CHECK(first(steps + R"(, "checkpoint": {"lastCommitted": {"step": 9}})", "{}", false).ask);
  CHECK_FALSE(first(steps + R"(, "checkpoint": {"failedSaves": 1})", "{}", false).ask);
  CHECK(first(R"(, "progress": {"step": 0})", "{}", false).ask);
  CHECK(first("", "{}", false).ask);
  // What it lost when the attempt broke is not lost by the pause.
  const std::string broken = R"({"observedGeneration": 2, "conditions": [)" +
                             test_condition("Running", "False", "Restarting") + "]" + steps + "}";
  CHECK(first_look(Wish::kPause, test_job(broken), "amdahl").ask);
}

TEST_CASE("What became of a pause is told as it was recorded") {
  struct Row {
    std::string pause;
    std::string condition;
    int observed;
    bool open;
    int code;
    std::string said;
  };
  const std::string pausing = test_condition("Suspended", "False", "Pausing");
  const std::string refused = test_condition("Suspended", "False", "PauseRefused");
  const Row rows[] = {
      {R"({"outcome": "Committed", "step": 12, "message": "step 12 is safe"})", kIsPaused, 2, false,
       kDone, "llama is paused: checkpoint at step 12 is committed"},
      {R"({"outcome": "StepsLost", "step": 8, "lostSteps": 4, "message": "no checkpoint in time"})",
       kIsPaused, 2, false, kDone,
       "llama is paused: not committed, 4 steps have to be done again: no checkpoint in time"},
      {R"({"outcome": "Committed", "step": 12, "lostSteps": 3, "message": "step 12 is safe"})",
       kIsPaused, 2, false, kDone,
       "llama is paused: checkpoint at step 12 is committed, 3 steps have to be done again"},
      {R"({"outcome": "Committed", "step": 12, "lostSteps": 1})", kIsPaused, 2, false, kDone,
       "llama is paused: checkpoint at step 12 is committed, 1 step has to be done again"},
      {R"({"outcome": "NothingToSave", "message": "no step was made"})", kIsPaused, 2, false, kDone,
       "llama is paused: there was nothing to save: no step was made"},
      {R"({"outcome": "Refused", "message": "no checkpoint within the deadline"})", refused, 2,
       false, kFailed, "llama is not paused: refused: no checkpoint within the deadline"},
      {R"({"message": "waiting"})", pausing, 2, true, kDone, ""},
      {R"({"outcome": "Committed"})", kIsPaused, 1, true, kDone, ""},
      {R"({})", kIsPaused, 2, false, kDone, "llama is paused: no pod of it had started"},
  };
  for (const Row& row : rows) {
    Json status = Json::parse(status_with({row.condition}, row.observed));
    status["pause"] = Json::parse(row.pause);
    const WishVerdict said =
        judge(Wish::kPause, 2, test_job(status.dump(), R"({"suspend": true})"));
    CHECK(said.open == row.open);
    CHECK(said.code == row.code);
    CHECK(said.said == row.said);
  }
}

TEST_CASE("A wish that somebody took back, or that came too late, is told") {
  CHECK(judge(Wish::kPause, 2, test_job(status_with({kIsRunning}))).said ==
        "llama was told to run again");
  CHECK(judge(Wish::kPause, 2, test_job(status_with({kIsDone}), R"({"suspend": true})")).said ==
        "llama has ended (Succeeded) before it could be paused");
  const WishVerdict again =
      judge(Wish::kResume, 2, test_job(status_with({}), R"({"suspend": true})"));
  CHECK(again.code == kFailed);
  CHECK(judge(Wish::kResume, 2, test_job(status_with({kIsDone}))).code == kDone);
  CHECK(judge(Wish::kResume, 3, test_job(status_with({kIsRunning}))).open);
  CHECK(judge(Wish::kResume, 2,
              test_job(R"({"observedGeneration": 2, "attempt": 3, "conditions": [)" + kIsRunning +
                       R"(], "attempts": [{"number": 3, "resumedFromStep": 12}]})"))
            .said == "llama runs, attempt 3, from step 12");
  CHECK(judge(Wish::kCancel, 2, test_job(status_with({kIsCancelled}))).said ==
        "llama is cancelled");
  CHECK(judge(Wish::kCancel, 2, test_job(status_with({kIsRunning}))).open);
}

TEST_CASE("A patch changes the wish and says whose it is") {
  CHECK(patch_of(Wish::kPause, "") == Json::parse(R"({"spec": {"suspend": true}})"));
  CHECK(patch_of(Wish::kResume, "ann") == Json::parse(R"({"spec": {"suspend": false},
                        "metadata": {"annotations": {"amdahl.dev/requested-by": "ann"}}})"));
  CHECK(patch_of(Wish::kCancel, "") == Json::parse(R"({"spec": {"cancel": true}})"));
}

}  // namespace
}  // namespace amdahl::cli
