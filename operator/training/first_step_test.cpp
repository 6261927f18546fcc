// Which step of an attempt was its first, and what would be lost of it.
#include <catch2/catch.hpp>

#include "operator/training/attempts.hpp"
#include "operator/training/test_world.hpp"

namespace amdahl::training {
namespace {

using namespace std::chrono_literals;

TEST_CASE("A script that tells of its steps after a hook did made them from its beginning",
          "[D8]") {
  World world;
  world.edit().spec.nodes = 1;
  world.reach(api::Phase::kRunning);
  const auto count = [&](std::int64_t step, api::StepSource source) {
    world.report(0).step = step;
    world.report(0).step_source = source;
    world.now += 1min;
    world.settle();
  };
  const auto first = [&] { return world.job->status.attempts.back().first_step; };
  count(3, api::StepSource::kHook);
  CHECK(first() == 3);
  SECTION("of the job itself") {
    count(14, api::StepSource::kLog);
    CHECK(first() == 1);
    CHECK(steps_at_risk(world.job->status, world.job->spec) == 14);
  }
  SECTION("of another job's checkpoint, whose step nobody told") {
    world.edit().spec.checkpoint.init_from = "gs://b/base";
    count(140, api::StepSource::kLog);
    CHECK(first() == 140);
    CHECK(steps_at_risk(world.job->status, world.job->spec) == 1);
  }
}

}  // namespace
}  // namespace amdahl::training
