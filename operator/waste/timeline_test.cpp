#include "operator/waste/timeline.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <limits>

namespace amdahl::waste {
namespace {

using std::chrono::seconds;

WallTime at(std::int64_t second) {
  return WallTime{seconds{1'700'000'000 + second}};
}

std::int64_t in_seconds(WideMicros micros) {
  return static_cast<std::int64_t>(micros / 1'000'000);
}

// Bound at 0 while the gang is complete at 10, started at 30, and at 130 still running.
AttemptTimeline one_of_two() {
  return {.number = 1,
          .ranks = 2,
          .pods = {{.pod = "a", .gpus = 8, .bound = at(0), .started = at(30)},
                   {.pod = "b", .gpus = 8, .bound = at(10), .started = at(30)}}};
}

TEST_CASE("split tells waiting for the gang from starting") {
  const AttemptTimeline attempt = one_of_two();
  const auto parts = split(attempt.pods[0], attempt, at(130));
  CHECK(in_seconds(parts[Phase::kPendingHold]) == 10);
  CHECK(in_seconds(parts[Phase::kInit]) == 20);
  CHECK(in_seconds(parts[Phase::kUnattributed]) == 100);
  CHECK(in_seconds(parts.sum()) == 130);
}

TEST_CASE("split holds a gang that is not complete as pending") {
  AttemptTimeline attempt = one_of_two();
  attempt.pods[1].bound.reset();
  attempt.pods[0].started.reset();
  const auto parts = split(attempt.pods[0], attempt, at(50));
  CHECK(in_seconds(parts[Phase::kPendingHold]) == 50);
  CHECK(split(attempt.pods[1], attempt, at(50)).sum() == 0);
}

TEST_CASE("split believes reports up to the time there was") {
  AttemptTimeline attempt = one_of_two();
  PodTimeline& pod = attempt.pods[0];
  SECTION("less than the time") {
    pod.reported = {.productive = 60, .data_wait = 15, .checkpoint_save = 5};
    const auto parts = split(pod, attempt, at(130));
    CHECK(in_seconds(parts[Phase::kProductive]) == 60);
    CHECK(in_seconds(parts[Phase::kDataWait]) == 15);
    CHECK(in_seconds(parts[Phase::kCheckpointSave]) == 5);
    CHECK(in_seconds(parts[Phase::kUnattributed]) == 20);
  }
  SECTION("four times the time shrinks in proportion") {
    pod.reported = {.productive = 300, .data_wait = 100};
    const auto parts = split(pod, attempt, at(130));
    // Each is first cut to the whole window of 100 s.
    CHECK(in_seconds(parts[Phase::kProductive]) == 50);
    CHECK(in_seconds(parts[Phase::kDataWait]) == 50);
    CHECK(in_seconds(parts.sum()) == 130);
  }
  SECTION("nonsense is nothing") {
    pod.reported = {.rendezvous = -5,
                    .productive = std::numeric_limits<double>::quiet_NaN(),
                    .idle = std::numeric_limits<double>::infinity()};
    const auto parts = split(pod, attempt, at(130));
    CHECK(parts[Phase::kProductive] == 0);
    CHECK(parts[Phase::kRendezvous] == 0);
    CHECK(parts[Phase::kIdle] == 0);
  }
}

TEST_CASE("split counts from a failure to the release as recovery") {
  AttemptTimeline attempt = one_of_two();
  attempt.failed_at = at(100);
  attempt.pods[0].finished = at(118);
  attempt.pods[0].released = at(120);
  attempt.pods[0].reported = {.productive = 500};
  const auto parts = split(attempt.pods[0], attempt, at(900));
  CHECK(in_seconds(parts[Phase::kProductive]) == 70);
  CHECK(in_seconds(parts[Phase::kRecovery]) == 20);
  CHECK(in_seconds(parts.sum()) == 120);
}

TEST_CASE("split counts a pause from the request on as stopping, but for its checkpoint") {
  AttemptTimeline attempt = one_of_two();
  PodTimeline& pod = attempt.pods[0];
  pod.stop_asked = at(100);
  pod.finished = at(120);
  pod.released = at(125);
  pod.reported = {.productive = 70, .checkpoint_save = 12};
  const auto parts = split(pod, attempt, at(900));
  CHECK(in_seconds(parts[Phase::kCheckpointSave]) == 12);
  CHECK(in_seconds(parts[Phase::kStopping]) == 8 + 5);
  CHECK(in_seconds(parts[Phase::kUnattributed]) == 0);
}

TEST_CASE("split moves the steps after the last commit to lost work when the attempt has ended") {
  AttemptTimeline attempt = one_of_two();
  attempt.steps_made = 100;
  attempt.steps_lost = 25;
  attempt.pods[0].reported = {.productive = 80};
  CHECK(split(attempt.pods[0], attempt, at(130))[Phase::kLostWork] == 0);
  attempt.ended = true;
  const auto parts = split(attempt.pods[0], attempt, at(130));
  CHECK(in_seconds(parts[Phase::kLostWork]) == 20);
  CHECK(in_seconds(parts[Phase::kProductive]) == 60);
}

TEST_CASE("split survives times that go backwards") {
  AttemptTimeline attempt = one_of_two();
  PodTimeline& pod = attempt.pods[0];
  pod.bound = at(100);
  pod.started = at(40);
  pod.finished = at(20);
  pod.released = at(120);
  CHECK(in_seconds(split(pod, attempt, at(500)).sum()) == 20);
  pod.released = at(50);
  CHECK(split(pod, attempt, at(500)).sum() == 0);
}

TEST_CASE("split gives a rank that tells of no steps the phases of the rank that does", "[D8]") {
  AttemptTimeline attempt = one_of_two();
  attempt.pods[1].reported = {.init = 5, .productive = 80, .checkpoint_save = 10};
  SECTION("what it leaves unsaid") {
    const auto parts = split(attempt.pods[0], attempt, at(130));
    CHECK(in_seconds(parts[Phase::kInit]) == 20 + 5);
    CHECK(in_seconds(parts[Phase::kProductive]) == 80);
    CHECK(in_seconds(parts[Phase::kCheckpointSave]) == 10);
    CHECK(in_seconds(parts[Phase::kUnattributed]) == 5);
    CHECK(in_seconds(parts.sum()) == 130);
  }
  SECTION("what it says of itself stays") {
    attempt.pods[0].reported = {.rendezvous = 55, .checkpoint_save = 4};
    const auto parts = split(attempt.pods[0], attempt, at(130));
    CHECK(in_seconds(parts[Phase::kRendezvous]) == 55);
    // The other 41 s in the proportion of 5, 80 and 6.
    CHECK(in_seconds(parts[Phase::kProductive]) == 36);
    CHECK(in_seconds(parts[Phase::kCheckpointSave]) == 4 + 2);
    CHECK(in_seconds(parts[Phase::kUnattributed]) == 0);
    CHECK(in_seconds(parts.sum()) == 130);
  }
  SECTION("no longer than the other one worked") {
    attempt.pods[1].finished = at(130);
    const auto parts = split(attempt.pods[0], attempt, at(1030));
    CHECK(in_seconds(parts[Phase::kProductive]) == 80);
    CHECK(in_seconds(parts[Phase::kUnattributed]) == 905);
  }
  SECTION("steps that have to be done again are lost on all ranks") {
    attempt.ended = true;
    attempt.steps_made = 100;
    attempt.steps_lost = 25;
    CHECK(in_seconds(split(attempt.pods[0], attempt, at(130))[Phase::kLostWork]) == 20);
    CHECK(in_seconds(split(attempt.pods[1], attempt, at(130))[Phase::kLostWork]) == 20);
  }
  SECTION("a rank that tells of its own steps is believed") {
    attempt.pods[0].reported = {.productive = 30};
    const auto parts = split(attempt.pods[0], attempt, at(130));
    CHECK(in_seconds(parts[Phase::kProductive]) == 30);
    CHECK(in_seconds(parts[Phase::kUnattributed]) == 70);
  }
}

TEST_CASE("remember releases pods that are no longer seen, and forgets no report") {
  AttemptTimeline known = one_of_two();
  known.pods[0].reported.productive = 40;
  AttemptTimeline seen = one_of_two();
  seen.pods.pop_back();
  seen.pods[0].reported.productive = 7;  // the agent was restarted
  seen.pods[0].started = at(60);
  remember(known, seen, at(70));
  CHECK(known.pods[0].reported.productive == 40);
  CHECK(known.pods[0].started == at(30));
  CHECK_FALSE(known.pods[0].released);
  CHECK(known.pods[1].released == at(70));
  remember(known, seen, at(90));
  CHECK(known.pods[1].released == at(70));
}

}  // namespace
}  // namespace amdahl::waste
