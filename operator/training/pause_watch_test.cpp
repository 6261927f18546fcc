#include "operator/training/pause_watch.hpp"

#include <catch2/catch.hpp>

namespace amdahl::training {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kAsked{10'000s};

api::TrainingJobStatus pausing(WallTime asked = kAsked) {
  api::TrainingJobStatus status;
  status.pause = api::PauseStatus{.requested_at = asked, .generation = 2};
  return status;
}

TEST_CASE("A pause that was seen to begin is timed by the monotonic clock", "[B10]") {
  PauseWatch watch;
  watch.see(pausing(), {.steady = Monotonic{100s}, .wall = kAsked});
  for (const auto set_by : {-3600s, 0s, 3600s}) {
    watch.see(pausing(), {.steady = Monotonic{130s}, .wall = kAsked + 30s + set_by});
    CHECK(watch.since() == Monotonic{100s});
  }
}

TEST_CASE("To a process that came later the record says when a pause began", "[B10]") {
  PauseWatch late;
  late.see(pausing(), {.steady = Monotonic{500s}, .wall = kAsked + 40s});
  CHECK(late.since() == Monotonic{460s});
  PauseWatch behind;  // its clock is behind the one that was recorded by
  behind.see(pausing(), {.steady = Monotonic{500s}, .wall = kAsked - 1h});
  CHECK(behind.since() == Monotonic{500s});
}

TEST_CASE("A pause of a time that nobody can count with has waited for a year at most", "[A1]") {
  const Moment now{.steady = Monotonic{10'000h}, .wall = kAsked};
  PauseWatch watch;
  watch.see(pausing(WallTime{std::chrono::sys_days{std::chrono::year{9999} / 12 / 31}}), now);
  CHECK(watch.since() == now.steady);
  watch.see(pausing(WallTime{std::chrono::sys_days{std::chrono::year{1} / 1 / 1}}), now);
  CHECK(watch.since() == now.steady - 8760h);
}

TEST_CASE("A pause that is over, or another one, begins a new time") {
  PauseWatch watch;
  watch.see(pausing(), {.steady = Monotonic{100s}, .wall = kAsked});
  watch.see({}, {.steady = Monotonic{110s}, .wall = kAsked + 10s});
  CHECK(!watch.since());
  watch.see(pausing(kAsked + 20s), {.steady = Monotonic{120s}, .wall = kAsked + 20s});
  CHECK(watch.since() == Monotonic{120s});
  watch.see(pausing(kAsked + 50s), {.steady = Monotonic{150s}, .wall = kAsked + 50s});
  CHECK(watch.since() == Monotonic{150s});
}

}  // namespace
}  // namespace amdahl::training
