#include "operator/training/attempts.hpp"

#include <catch2/catch.hpp>

#include "operator/training/test_world.hpp"

namespace amdahl::training {
namespace {

using namespace std::chrono_literals;

TEST_CASE("What a checkpoint engine reports stands in the status") {
  World world;
  world.edit().spec.checkpoint.uri = "gs://bucket/prefix";
  world.reach(api::Phase::kRunning);
  world.report(0).checkpoint = api::ReportCheckpoint{.step = 7,
                                                     .path = "gs://bucket/prefix",
                                                     .bytes = 1024,
                                                     .manifest_digest = "sha256:ab",
                                                     .stall_seconds = 0.12345,
                                                     .predicted_pause_seconds = 4.0,
                                                     .failed_saves = 1,
                                                     .orphans_collected = 3};
  world.now += 1min;
  world.settle();
  const auto checkpoint = world.job->status.checkpoint.value();
  CHECK(checkpoint.last_committed->step == 7);
  CHECK(checkpoint.last_committed->manifest_digest == "sha256:ab");
  CHECK(checkpoint.stall_seconds == 0.123);
  CHECK_FALSE(checkpoint.upload_lag_seconds);
  CHECK(checkpoint.predicted_pause_seconds == 4.0);
  CHECK(checkpoint.failed_saves == 1);
  CHECK(checkpoint.orphans_collected == 3);
  // Counters of a rank that began anew do not go back, and an older step is no news.
  world.report(0).checkpoint = api::ReportCheckpoint{.step = 6, .stall_seconds = 0.2};
  world.now += 1min;
  world.settle();
  CHECK(world.job->status.checkpoint->last_committed->step == 7);
  CHECK(world.job->status.checkpoint->stall_seconds == 0.2);
  CHECK(world.job->status.checkpoint->failed_saves == 1);
  CHECK(world.broken == std::vector<std::string>{});
}

}  // namespace
}  // namespace amdahl::training
