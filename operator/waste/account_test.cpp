#include "operator/waste/account.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <limits>

#include "base/rng.hpp"

namespace amdahl::waste {
namespace {

using std::chrono::seconds;

WallTime at(std::int64_t second) {
  return WallTime{seconds{1'700'000'000 + second}};
}

AttemptTimeline attempt_of(std::int32_t number, std::int64_t from, std::int64_t to) {
  return {.number = number,
          .ranks = 1,
          .pods = {{.pod = "p" + std::to_string(number),
                    .gpus = 4,
                    .bound = at(from),
                    .started = at(from),
                    .released = at(to)}},
          .ended = true};
}

std::int64_t phase_of(const std::vector<api::PhaseSeconds>& rows, std::string_view name) {
  const auto row = std::ranges::find(rows, name, &api::PhaseSeconds::name);
  return row == rows.end() ? 0 : row->seconds;
}

std::int64_t sum_of(const std::vector<api::PhaseSeconds>& rows) {
  std::int64_t sum = 0;
  for (const api::PhaseSeconds& row : rows) sum += row.seconds;
  return sum;
}

TEST_CASE("apportion gives the missing units to the largest remainders") {
  PerPhase<WideMicros> parts;
  parts[Phase::kInit] = 1'400'000;
  parts[Phase::kProductive] = 2'700'000;
  parts[Phase::kIdle] = 900'000;
  const auto whole = apportion(parts, 1'000'000);
  CHECK(whole[Phase::kInit] == 1);
  CHECK(whole[Phase::kProductive] == 3);
  CHECK(whole[Phase::kIdle] == 1);
  CHECK(whole.sum() == 5);
}

TEST_CASE("account adds attempts, and settles those that have released everything") {
  std::vector<AttemptTimeline> timelines = {attempt_of(1, 0, 100)};
  timelines[0].pods[0].reported.productive = 60;
  Account first = account({.timelines = timelines, .now = at(100)});
  CHECK(first.total.held == 400);
  CHECK(phase_of(first.total.phases, "productive") == 240);
  CHECK(first.total.goodput == Approx(0.6));
  REQUIRE(first.total.settled);
  CHECK(first.total.settled->attempt == 1);

  // Its pods are forgotten; the second attempt still runs.
  timelines = {attempt_of(2, 200, 0)};
  timelines[0].ended = false;
  timelines[0].pods[0].released.reset();
  const Account second = account({.previous = first.total, .timelines = timelines, .now = at(210)});
  CHECK(second.total.held == 440);
  CHECK(phase_of(second.total.phases, "productive") == 240);
  CHECK(second.total.settled == first.total.settled);
  REQUIRE(second.attempts.size() == 1);
  CHECK(second.attempts[0].held == 40);
}

TEST_CASE("account knows no goodput where nobody understood a step", "[D8]") {
  std::vector<AttemptTimeline> timelines = {attempt_of(1, 0, 100)};
  const auto goodput = [&] {
    return account({.timelines = timelines, .now = at(100)}).total.goodput;
  };
  CHECK_FALSE(goodput());  // all of it is unattributed
  timelines[0].pods[0].reported.init = 40;
  CHECK_FALSE(goodput());
  timelines[0].pods[0].reported.init = 100;  // it failed before its first step, as everybody knows
  CHECK(goodput() == 0.0);
  timelines[0].pods[0].reported = {.init = 40, .productive = 25};
  CHECK(goodput() == Approx(0.25));
}

TEST_CASE("account of a gang of which one rank prints is as useful as that rank", "[D8]") {
  AttemptTimeline attempt = attempt_of(1, 0, 100);
  attempt.ranks = 8;
  attempt.pods.resize(8, attempt.pods[0]);
  attempt.pods[7].reported.productive = 90;
  const std::vector<AttemptTimeline> timelines = {attempt};
  const Account result = account({.timelines = timelines, .now = at(100)});
  CHECK(result.total.held == 3200);
  CHECK(phase_of(result.total.phases, "productive") == 2880);
  CHECK(phase_of(result.total.phases, "unattributed") == 320);
  CHECK(result.total.goodput == Approx(0.9));
}

TEST_CASE("account settles an attempt once, however often it is shown") {
  const std::vector<AttemptTimeline> timelines = {attempt_of(1, 0, 100)};
  const Account first = account({.timelines = timelines, .now = at(100)});
  const Account again = account({.previous = first.total, .timelines = timelines, .now = at(200)});
  CHECK(again.total == first.total);
}

TEST_CASE("account keeps what the status says of pods that nobody remembers") {
  const std::vector<api::AttemptStatus> recorded = {
      {.number = 1, .ended_at = at(90), .held_gpu_seconds = 300}};
  const Account result = account({.recorded = recorded, .now = at(100)});
  CHECK(result.total.held == 300);
  CHECK(phase_of(result.total.phases, "unattributed") == 300);
  REQUIRE(result.total.settled);
  CHECK(result.total.settled->attempt == 1);
}

TEST_CASE("account does not settle an attempt before the one in front of it") {
  std::vector<AttemptTimeline> timelines = {attempt_of(1, 0, 100), attempt_of(2, 100, 150)};
  timelines[0].pods[0].released.reset();  // stuck in Terminating
  const Account result = account({.timelines = timelines, .now = at(200)});
  CHECK_FALSE(result.total.settled);
  CHECK(result.total.held == 4 * 200 + 4 * 50);
}

TEST_CASE("account reads phases of a newer operator as unattributed") {
  api::GpuSecondsStatus previous;
  previous.settled = api::SettledGpuSeconds{
      .attempt = 3, .phases = {{.name = "compile", .seconds = 7}, {.name = "idle", .seconds = 2}}};
  const Account result = account({.previous = previous, .now = at(0)});
  CHECK(result.total.held == 9);
  CHECK(phase_of(result.total.phases, "unattributed") == 7);
}

// Timelines with missing, equal and backward times and reports that claim anything.
AttemptTimeline random_attempt(Rng& rng, std::int32_t number) {
  const auto maybe = [&](double chance) -> std::optional<WallTime> {
    if (!rng.chance(chance)) return std::nullopt;
    return at(static_cast<std::int64_t>(rng.below(1000))) +
           std::chrono::microseconds{rng.below(1'000'000)};
  };
  const auto claim = [&] {
    constexpr double kOdd[] = {-1, 1e300, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()};
    return rng.chance(0.2) ? kOdd[rng.below(4)] : rng.unit() * 400;
  };
  const auto maybe_claim = [&] { return rng.chance(0.5) ? claim() : 0; };
  AttemptTimeline attempt{.number = number,
                          .ranks = static_cast<std::int64_t>(1 + rng.below(4)),
                          .failed_at = maybe(0.3),
                          .ended = rng.chance(0.5),
                          .steps_made = static_cast<std::int64_t>(rng.below(50)),
                          .steps_lost = static_cast<std::int64_t>(rng.below(100)) - 20};
  for (std::uint64_t i = rng.below(5); i > 0; --i)
    attempt.pods.push_back({.pod = std::to_string(i),
                            .gpus = static_cast<std::int64_t>(rng.below(10)) - 1,
                            .bound = maybe(0.9),
                            .started = maybe(0.8),
                            .finished = maybe(0.5),
                            .released = maybe(0.4),
                            .stop_asked = maybe(0.3),
                            .reported = {claim(), claim(), maybe_claim(), claim(), claim(), claim(),
                                         maybe_claim(), claim()}});
  return attempt;
}

TEST_CASE("account of any timeline adds up, is never negative and never shrinks with time") {
  Rng rng(20'261'117);
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    const AttemptTimeline attempt = random_attempt(rng, 1);
    std::int64_t held_before = 0;
    for (std::int64_t now = 0; now <= 1200; now += 150) {
      const AttemptAccount result = account_attempt(attempt, at(now));
      REQUIRE(result.phases.sum() == result.held);
      for (const std::int64_t part : result.phases.values) REQUIRE(part >= 0);
      REQUIRE(result.held >= held_before);
      held_before = result.held;
      for (const PodTimeline& pod : attempt.pods)
        for (const WideMicros part : split(pod, attempt, at(now)).values) REQUIRE(part >= 0);
    }
  }
}

TEST_CASE("account over any history adds up and never shrinks, pods remembered or not") {
  Rng rng(7);
  for (int round = 0; round < 500; ++round) {
    CAPTURE(round);
    std::optional<api::GpuSecondsStatus> status;
    std::vector<api::AttemptStatus> recorded;
    std::vector<AttemptTimeline> timelines;
    for (std::int32_t number = 1; number <= 4; ++number) {
      timelines.push_back(random_attempt(rng, number));
      recorded.push_back({.number = number});
      for (std::int64_t now = 0; now <= 1000; now += 500) {
        const Account result = account({status, recorded, timelines, at(now + 1000 * number)});
        REQUIRE(sum_of(result.total.phases) == result.total.held);
        REQUIRE(result.total.held >= (status ? status->held : 0));
        status = result.total;
        for (const AttemptAccount& attempt : result.attempts)
          recorded[static_cast<std::size_t>(attempt.number) - 1].held_gpu_seconds = attempt.held;
      }
      recorded.back().ended_at = at(0);
      if (rng.chance(0.5)) timelines.clear();  // the operator was restarted, the pods are gone
    }
  }
}

}  // namespace
}  // namespace amdahl::waste
