#include "operator/controller/lease_step.hpp"

#include <catch2/catch.hpp>

namespace amdahl::controller {
namespace {
using namespace std::chrono_literals;

constexpr LeaseTimings kTimings{};  // 15 s / 10 s / 2 s
const LeaseCandidate kUs{.identity = "us", .timings = kTimings};

Monotonic at(std::chrono::nanoseconds time) {
  return Monotonic{time};
}
LeaseRecord record(std::string holder, std::int64_t transitions, std::string version,
                   std::chrono::seconds duration = 15s) {
  return {.holder = std::move(holder),
          .duration = duration,
          .transitions = transitions,
          .version = std::move(version)};
}

TEST_CASE("LeaseTimings are refused unless lease > renew > 1.2 x retry > 0", "[E1]") {
  struct Row {
    LeaseTimings timings;
    bool good;
  };
  for (const Row& row : std::initializer_list<Row>{{{}, true},
                                                   {{15'000ms, 15'000ms, 2'000ms}, false},
                                                   {{10'000ms, 15'000ms, 2'000ms}, false},
                                                   {{15'000ms, 2'400ms, 2'000ms}, false},
                                                   {{15'000ms, 2'401ms, 2'000ms}, true},
                                                   {{15'000ms, 10'000ms, 0ms}, false},
                                                   {{15'000ms, 10'000ms, -1ms}, false},
                                                   {{999ms, 500ms, 100ms}, false},
                                                   {{1'000ms, 500ms, 100ms}, true},
                                                   {{601'000ms, 10'000ms, 2'000ms}, false}}) {
    INFO(row.timings.lease.count()
         << "/" << row.timings.renew.count() << "/" << row.timings.retry.count());
    CHECK(validate(row.timings).has_value() == row.good);
  }
}

TEST_CASE("A candidate reads first, and creates the lease when there is none", "[E1]") {
  LeaseStep step = lease_step(kUs, {}, LeaseTick{}, at(0s));
  CHECK(step.action == LeaseAction::kRead);
  step = lease_step(kUs, step.next, LeaseAbsent{}, at(1s));
  REQUIRE(step.action == LeaseAction::kCreate);
  CHECK(step.record == record("us", 0, ""));
  step = lease_step(kUs, step.next, LeaseWritten{record("us", 0, "10"), at(1s)}, at(2s));
  CHECK(step.action == LeaseAction::kWait);
  CHECK(step.next.leading);
  CHECK(step.next.valid_until == at(11s));  // from when it was sent, not from the answer (E2)
}

TEST_CASE(
    "A lease that keeps changing is left alone; one that stands still for its duration is taken",
    "[E1]") {
  LeaseStep step = lease_step(kUs, {}, LeaseRead{record("them", 4, "10")}, at(100s));
  CHECK(step.action == LeaseAction::kWait);
  step = lease_step(kUs, step.next, LeaseTick{}, at(110s));
  CHECK(step.action == LeaseAction::kRead);  // a follower looks before it acts
  step = lease_step(kUs, step.next, LeaseRead{record("them", 4, "11")}, at(110s));
  CHECK(step.action == LeaseAction::kWait);
  step = lease_step(kUs, step.next, LeaseRead{record("them", 4, "11")}, at(124s + 999ms));
  CHECK(step.action == LeaseAction::kWait);
  step = lease_step(kUs, step.next, LeaseRead{record("them", 4, "11")}, at(125s));
  REQUIRE(step.action == LeaseAction::kWrite);
  CHECK(step.record == record("us", 5, "11"));  // a new term, over the version that was seen
  CHECK_FALSE(step.next.leading);               // not before the server agrees
  CHECK(lease_step(kUs, step.next, LeaseConflict{}, at(125s)).action == LeaseAction::kWait);
}

TEST_CASE("How long a record is trusted is what it says, within bounds", "[E1][E4]") {
  struct Row {
    std::chrono::seconds says;
    std::chrono::nanoseconds trusted;
  };
  for (const Row& row : std::initializer_list<Row>{
           {15s, 15s}, {60s, 60s}, {1s, 1s}, {0s, 1s}, {-5s, 1s}, {1'000'000s, 600s}}) {
    INFO(row.says.count());
    LeaseStep step = lease_step(kUs, {}, LeaseRead{record("them", 0, "10", row.says)}, at(0s));
    CHECK(step.action == LeaseAction::kWait);
    const LeaseRead again{record("them", 0, "10", row.says)};
    CHECK(lease_step(kUs, step.next, again, at(row.trusted - 1ns)).action == LeaseAction::kWait);
    CHECK(lease_step(kUs, step.next, again, at(row.trusted)).action == LeaseAction::kWrite);
  }
}

TEST_CASE("A leader renews over its own version without reading, in the same term", "[E1]") {
  LeaseStep step = lease_step(kUs, {}, LeaseWritten{record("us", 7, "20"), at(0s)}, at(0s));
  step = lease_step(kUs, step.next, LeaseTick{}, at(2s));
  REQUIRE(step.action == LeaseAction::kWrite);
  CHECK(step.record == record("us", 7, "20"));
  step = lease_step(kUs, step.next, LeaseWritten{record("us", 7, "21"), at(2s)}, at(3s));
  CHECK(step.next.valid_until == at(12s));
}

TEST_CASE("A leader that cannot renew for the renew deadline has lost", "[E1][E2]") {
  LeaseStep step = lease_step(kUs, {}, LeaseWritten{record("us", 0, "20"), at(0s)}, at(0s));
  for (const auto now : {2s, 4s, 6s, 8s}) {
    step = lease_step(kUs, step.next, LeaseFailed{}, at(now));
    REQUIRE(step.action == LeaseAction::kWait);
    step = lease_step(kUs, step.next, LeaseTick{}, at(now));
    REQUIRE(step.action == LeaseAction::kRead);  // the failed write may have been committed
  }
  step = lease_step(kUs, step.next, LeaseFailed{}, at(10s));
  CHECK(step.action == LeaseAction::kLost);
  CHECK_FALSE(step.next.leading);
}

TEST_CASE("A leader that was paused past its deadline has lost, even if its renewal succeeded",
          "[E2]") {
  LeaseStep step = lease_step(kUs, {}, LeaseWritten{record("us", 0, "20"), at(0s)}, at(0s));
  const LeaseWritten late{record("us", 0, "21"), at(2s)};
  CHECK(lease_step(kUs, step.next, late, at(11s)).action == LeaseAction::kLost);
  LeaseStep fresh = lease_step(kUs, {}, LeaseAbsent{}, at(0s));
  CHECK(lease_step(kUs, fresh.next, LeaseWritten{record("us", 0, "1"), at(0s)}, at(10s)).action ==
        LeaseAction::kLost);
}

TEST_CASE("A leader that sees another holder has lost at once", "[E1]") {
  LeaseStep step = lease_step(kUs, {}, LeaseWritten{record("us", 0, "20"), at(0s)}, at(0s));
  step = lease_step(kUs, step.next, LeaseConflict{}, at(1s));
  REQUIRE(step.action == LeaseAction::kRead);
  CHECK(lease_step(kUs, step.next, LeaseRead{record("them", 1, "25")}, at(1s)).action ==
        LeaseAction::kLost);
  CHECK(lease_step(kUs, step.next, LeaseRead{record("", 1, "25")}, at(1s)).action ==
        LeaseAction::kLost);
}

TEST_CASE(
    "A leader whose answer was lost finds its own name and goes on, trusting the old deadline",
    "[E1][E2]") {
  LeaseStep step = lease_step(kUs, {}, LeaseWritten{record("us", 3, "20"), at(0s)}, at(0s));
  step = lease_step(kUs, step.next, LeaseFailed{}, at(3s));
  step = lease_step(kUs, step.next, LeaseTick{}, at(4s));
  REQUIRE(step.action == LeaseAction::kRead);
  step = lease_step(kUs, step.next, LeaseRead{record("us", 3, "21")}, at(4s));
  REQUIRE(step.action == LeaseAction::kWrite);
  CHECK(step.record == record("us", 3, "21"));
  CHECK(step.next.leading);
  CHECK(step.next.valid_until == at(10s));
}

TEST_CASE("A candidate whose take-over answer was lost leads only after the server has answered",
          "[E1]") {
  LeaseStep step = lease_step(kUs, {}, LeaseRead{record("us", 6, "31")}, at(0s));
  REQUIRE(step.action == LeaseAction::kWrite);
  CHECK_FALSE(step.next.leading);
  CHECK(step.record.transitions == 6);
}

TEST_CASE("A released lease is taken at once, in a new term", "[E4]") {
  const LeaseRecord gone = released(record("them", 8, "40"));
  CHECK(gone == record("", 8, "40", 1s));
  const LeaseStep step = lease_step(kUs, {}, LeaseRead{gone}, at(0s));
  REQUIRE(step.action == LeaseAction::kWrite);
  CHECK(step.record == record("us", 9, "40"));
}

TEST_CASE("A lease that was deleted neither shortens the holder's time nor repeats an epoch",
          "[E1][E3]") {
  LeaseStep step = lease_step(kUs, {}, LeaseRead{record("them", 8, "40")}, at(0s));
  step = lease_step(kUs, step.next, LeaseAbsent{}, at(5s));
  CHECK(step.action == LeaseAction::kWait);
  step = lease_step(kUs, step.next, LeaseAbsent{}, at(15s));
  REQUIRE(step.action == LeaseAction::kCreate);
  CHECK(step.record == record("us", 9, ""));

  LeaseStep leader = lease_step(kUs, {}, LeaseWritten{record("us", 3, "20"), at(0s)}, at(0s));
  leader = lease_step(kUs, leader.next, LeaseAbsent{}, at(2s));
  REQUIRE(leader.action == LeaseAction::kCreate);
  CHECK(leader.record.transitions == 3);  // the same term
}

}  // namespace
}  // namespace amdahl::controller
