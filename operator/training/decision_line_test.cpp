#include "operator/training/decision_line.hpp"

#include <catch2/catch.hpp>

namespace amdahl::training {
namespace {

api::TrainingJobStatus running() {
  api::TrainingJobStatus status{.phase = api::Phase::kRunning, .attempt = 1, .epoch = 1};
  status.attempts = {{.number = 1}};
  status.progress = api::ProgressStatus{.step = 7};
  return status;
}

TEST_CASE("A decision names the attempt that ended, its cause, rank, step and phases", "[B6]") {
  const api::TrainingJobStatus before = running();
  Plan plan{.policy = "restart", .move = Move::kBreak, .status = before};
  plan.status->phase = api::Phase::kRestarting;
  plan.status->attempt = 2;
  api::AttemptStatus& ended = plan.status->attempts.back();
  ended.outcome = api::AttemptOutcome::kFailed;
  ended.last_step = 9;
  ended.cause = api::Cause{.cause_class = api::CauseClass::kKilled, .rank = 3};
  plan.status->attempts.push_back({.number = 2});
  plan.events = {{.warning = true, .reason = "RankFailed", .note = "token abc"}};
  const auto line = decision_of(plan, before);
  REQUIRE(line);
  CHECK(line->policy == "restart");
  CHECK(line->from == "Running");
  CHECK(line->to == "Restarting");
  CHECK(line->attempt == 1);
  CHECK(line->cause == "Killed");
  CHECK(line->rank == 3);
  CHECK(line->step == 9);
  CHECK(line->reason == "RankFailed");
  CHECK(line->warning);

  std::string text;
  ManualClock clock;
  write_decision(Log(clock, [&](std::string_view out) { text += out; }),
                 {.ns = "research", .name = "train"}, "uid-1", *line);
  for (const char* part : {"research/train", "uid-1", "Killed", "\"rank\":3", "\"step\":9"})
    CHECK(text.find(part) != std::string::npos);
  CHECK(text.find("abc") == std::string::npos);  // words of others stay out of the log
}

TEST_CASE("What only moves by itself is no decision", "[B6]") {
  const api::TrainingJobStatus before = running();
  Plan plan{.policy = "observe", .move = Move::kObserve, .status = before};
  plan.status->progress->step = 8;
  CHECK_FALSE(decision_of(plan, before));
  CHECK_FALSE(decision_of(Plan{.policy = "observe"}, before));
  plan.create_pods = {0, 1};
  CHECK(decision_of(plan, before)->created == 2);
}

}  // namespace
}  // namespace amdahl::training
