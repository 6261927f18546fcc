#include "runtime/launch/timeline.hpp"

#include <catch2/catch.hpp>
#include <numeric>

#include "base/rng.hpp"

using namespace amdahl;
using namespace amdahl::launch;
using namespace std::chrono_literals;

namespace {

std::chrono::nanoseconds of(const Timeline& timeline, ReportPhase phase, Monotonic now) {
  return timeline.spans(now)[static_cast<std::size_t>(phase)];
}

}  // namespace

TEST_CASE("Timeline gives every phase the time between its enter and the next") {
  const Monotonic start{};
  Timeline timeline(start, ReportPhase::kWaiting);
  timeline.enter(ReportPhase::kInit, start + 2s);
  timeline.enter(ReportPhase::kTrain, start + 5s);
  CHECK(timeline.phase() == ReportPhase::kTrain);
  CHECK(of(timeline, ReportPhase::kWaiting, start + 9s) == 2s);
  CHECK(of(timeline, ReportPhase::kInit, start + 9s) == 3s);
  CHECK(of(timeline, ReportPhase::kTrain, start + 9s) == 4s);
}

TEST_CASE("Timeline moves what is claimed, and no more than was there") {
  const Monotonic start{};
  Timeline timeline(start, ReportPhase::kInit);
  timeline.enter(ReportPhase::kTrain, start + 10s);
  timeline.claim(ReportPhase::kDataWait, 1s, start + 14s);
  CHECK(of(timeline, ReportPhase::kTrain, start + 14s) == 3s);
  CHECK(of(timeline, ReportPhase::kDataWait, start + 14s) == 1s);
  timeline.claim(ReportPhase::kDataWait, 100s, start + 15s);
  CHECK(of(timeline, ReportPhase::kTrain, start + 15s) == 3s);
  CHECK(of(timeline, ReportPhase::kDataWait, start + 15s) == 2s);
  timeline.claim(ReportPhase::kDataWait, -5s, start + 16s);
  CHECK(of(timeline, ReportPhase::kDataWait, start + 16s) == 2s);
}

TEST_CASE("Timeline adds up to its age, whatever happens, also when time goes back") {
  Rng rng(7);
  const Monotonic start{};
  Timeline timeline(start, ReportPhase::kWaiting);
  Monotonic now = start;
  Monotonic latest = start;
  for (int round = 0; round < 10'000; ++round) {
    now +=
        std::chrono::nanoseconds(static_cast<std::int64_t>(rng.below(2'000'000'000)) - 200'000'000);
    latest = std::max(latest, now);
    const auto phase = static_cast<ReportPhase>(rng.below(api::kReportPhaseCount));
    if (rng.chance(0.5))
      timeline.enter(phase, now);
    else
      timeline.claim(phase, std::chrono::nanoseconds(rng.below(3'000'000'000)), now);
  }
  const auto spans = timeline.spans(latest);
  CHECK(std::accumulate(spans.begin(), spans.end(), std::chrono::nanoseconds{0}) == latest - start);
  for (const auto span : spans) CHECK(span >= 0ns);
}
