#include "checkpoint/engine/cadence.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "checkpoint/engine/save_id.hpp"
#include "checkpoint/format/digest.hpp"

namespace amdahl::checkpoint {
namespace {

TEST_CASE("Interval is Young's, within bounds") {
  const IntervalBounds bounds{.min = Seconds(60), .max = Seconds(3600)};
  CHECK(save_interval(Seconds(2), Seconds(10'000), bounds).count() == Approx(200));
  CHECK(save_interval(Seconds(0.001), Seconds(100), bounds).count() == 60);
  CHECK(save_interval(Seconds(100), Seconds(1e6), bounds).count() == 3600);
  CHECK(save_interval(Seconds(0), Seconds(1e6), bounds).count() == 3600);
  CHECK(save_interval(Seconds(1), Seconds(INFINITY), bounds).count() == 3600);
  CHECK(save_interval(Seconds(NAN), Seconds(1), bounds).count() == 3600);
}

TEST_CASE("Pause latency follows from bytes and measured rates") {
  SaveRates rates;
  CHECK_FALSE(pause_latency({.state_bytes = 100}, rates));
  rates = updated(rates, {.state_bytes = 1000,
                          .uploaded_bytes = 1000,
                          .snapshot = Seconds(1),
                          .upload = Seconds(10),
                          .commit = Seconds(2)});
  CHECK(pause_latency({.state_bytes = 1000}, rates)->count() == Approx(1 + 10 + 2));
  CHECK(pause_latency({.state_bytes = 1000, .queued_bytes = 500}, rates)->count() ==
        Approx(1 + 15 + 2));
  rates = updated(rates, {.state_bytes = 1000, .snapshot = Seconds(0.5)});
  CHECK(rates.snapshot_bytes_per_second == Approx(1250));
  CHECK(rates.upload_bytes_per_second == Approx(100));
}

TEST_CASE("Save ids differ by attempt, step and try") {
  CHECK(save_id("a", 1, 0) == save_id("a", 1, 0));
  CHECK(is_hex(save_id("a", 1, 0), kSaveIdDigits));
  CHECK(save_id("a", 1, 0) != save_id("b", 1, 0));
  CHECK(save_id("a", 1, 0) != save_id("a", 2, 0));
  CHECK(save_id("a", 1, 0) != save_id("a", 1, 1));
  CHECK(is_save_of("a", {.step = 1, .save_id = save_id("a", 1, kTriesMax - 1)}));
  CHECK_FALSE(is_save_of("b", {.step = 1, .save_id = save_id("a", 1, 0)}));
  CHECK(random_attempt_id() != random_attempt_id());
}

}  // namespace
}  // namespace amdahl::checkpoint
