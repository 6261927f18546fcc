#include "operator/training/diagnose/recurrence.hpp"

#include <catch2/catch.hpp>

namespace amdahl::training {
namespace {

using api::AttemptOutcome;
using api::AttemptStatus;
using api::CauseClass;

constexpr const char* kKeyError = "KeyError at train.py:12 in main: 'a'";

AttemptStatus ended(CauseClass cause_class, const char* message, std::int64_t last_step,
                    std::int64_t lost = 0) {
  return {.number = 1,
          .outcome = AttemptOutcome::kFailed,
          .cause = api::Cause{.cause_class = cause_class, .node = "n1", .message = message},
          .last_step = last_step,
          .lost_steps = lost};
}

AttemptStatus exception_at(std::int64_t step, std::int64_t lost = 0) {
  return ended(CauseClass::kUserException, kKeyError, step, lost);
}

TEST_CASE("judge_recurrence lets the first end pass") {
  const Recurrence result = judge_recurrence({}, exception_at(10), Advice::kRestartOnce);
  CHECK(result.advice == Advice::kRestartOnce);
  CHECK(result.same == 1);
  CHECK(result.progressed);
  CHECK(result.reason.empty());
}

TEST_CASE("judge_recurrence stops at the second same end where one more try was the advice") {
  const std::vector history = {exception_at(10)};
  const Recurrence result = judge_recurrence(history, exception_at(10), Advice::kRestartOnce);
  CHECK(result.advice == Advice::kStop);
  CHECK(result.same == 2);
  CHECK_FALSE(result.progressed);
  CHECK(
      result.reason ==
      "2 attempts in a row ended with UserException (KeyError at train.py:12 in main) and kept no "
      "step beyond 10");
}

TEST_CASE("judge_recurrence stops other causes at the third same end") {
  const auto timeout = [](std::int64_t sequence) {
    return ended(CauseClass::kCollectiveTimeout,
                 sequence == 1 ? "ALLREDUCE: SeqNum 1" : "ALLREDUCE: SeqNum 2", 50);
  };
  std::vector history = {timeout(1)};
  CHECK(judge_recurrence(history, timeout(2), Advice::kRestart).advice == Advice::kRestart);
  history.push_back(timeout(2));
  CHECK(judge_recurrence(history, timeout(1), Advice::kRestart).advice == Advice::kStop);
}

TEST_CASE("judge_recurrence takes kept steps as progress") {
  const std::vector history = {exception_at(10), exception_at(10)};
  const Recurrence further = judge_recurrence(history, exception_at(11), Advice::kRestartOnce);
  CHECK(further.progressed);
  CHECK(further.same == 1);
  CHECK(further.advice == Advice::kRestartOnce);
  // Steps that were made and lost again are none.
  const Recurrence lost = judge_recurrence(history, exception_at(900, 890), Advice::kRestartOnce);
  CHECK_FALSE(lost.progressed);
  CHECK(lost.advice == Advice::kStop);
}

TEST_CASE("judge_recurrence tells causes apart by what they are about") {
  const auto other_line =
      ended(CauseClass::kUserException, "KeyError at train.py:13 in main: 'a'", 10);
  const auto other_value =
      ended(CauseClass::kUserException, "KeyError at train.py:12 in main: 'b'", 10);
  const std::vector history = {exception_at(10)};
  CHECK(judge_recurrence(history, other_line, Advice::kRestartOnce).same == 1);
  CHECK(judge_recurrence(history, other_value, Advice::kRestartOnce).same == 2);

  auto fault = ended(CauseClass::kGpuFault, "Xid 79: off the bus", 10);
  const std::vector faults = {fault, fault};
  CHECK(judge_recurrence(faults, fault, Advice::kRestartElsewhere).advice == Advice::kStop);
  fault.cause->node = "n2";
  CHECK(judge_recurrence(faults, fault, Advice::kRestartElsewhere).same == 1);
}

TEST_CASE("judge_recurrence never stops for what is nobody's fault") {
  const auto preempted = ended(CauseClass::kPreempted, "PreemptionByScheduler: x", 10);
  const std::vector<AttemptStatus> history(9, preempted);
  const Recurrence result = judge_recurrence(history, preempted, Advice::kRestart);
  CHECK(result.advice == Advice::kRestart);
  CHECK(result.same == 1);
}

TEST_CASE("judge_recurrence looks through pauses and disruptions between two failures") {
  auto paused = exception_at(10);
  paused.outcome = AttemptOutcome::kPaused;
  paused.cause.reset();
  const std::vector history = {exception_at(10), paused,
                               ended(CauseClass::kPreempted, "PreemptionByScheduler: x", 10)};
  CHECK(judge_recurrence(history, exception_at(10), Advice::kRestartOnce).advice == Advice::kStop);
  paused.last_step = 5;  // it kept nothing that the last attempt did not have
  const std::vector another = {exception_at(3), paused};
  CHECK(judge_recurrence(another, exception_at(5), Advice::kRestartOnce).same == 1);
}

TEST_CASE("judge_recurrence leaves advice alone that restarts nothing") {
  const std::vector<AttemptStatus> history(5, exception_at(10));
  CHECK(judge_recurrence(history, exception_at(10), Advice::kStop).reason.empty());
  CHECK(judge_recurrence(history, exception_at(10), Advice::kCarryOn).advice == Advice::kCarryOn);
}

TEST_CASE("judge_recurrence of attempts without any step sees no progress") {
  AttemptStatus none = exception_at(0);
  none.last_step.reset();
  const std::vector history = {none};
  const Recurrence result = judge_recurrence(history, none, Advice::kRestartOnce);
  CHECK_FALSE(result.progressed);
  CHECK(result.advice == Advice::kStop);
}

TEST_CASE("kept_step never falls below the step an attempt began with") {
  AttemptStatus attempt = exception_at(100, 1000);
  attempt.resumed_from_step = 90;
  CHECK(kept_step(attempt) == 90);
  attempt.last_step.reset();
  CHECK(kept_step(attempt) == 90);
}

}  // namespace
}  // namespace amdahl::training
