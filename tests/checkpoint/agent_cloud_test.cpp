// The checkpoint agent with stores that are servers: what was handed over is committed there.
#include <catch2/catch.hpp>
#include <memory>

#include "checkpoint/engine/test_agent.hpp"
#include "checkpoint/store/test_cloud.hpp"

namespace amdahl::checkpoint::test {
namespace {

std::unique_ptr<Cloud> cloud_of(bool s3) {
  if (s3) return std::make_unique<S3Cloud>();
  return std::make_unique<GcsCloud>();
}

TEST_CASE("Agent commits to a bucket what a trainer that is gone had handed over") {
  const bool s3 = GENERATE(false, true);
  const auto cloud = cloud_of(s3);
  INFO(cloud->name());
  AgentWorld world(std::chrono::seconds(20), [&] { return cloud->open(); });
  auto engine = world.engine(small_options(identity("a")));
  REQUIRE(save_step(*engine, 1).has_value());
  const TestState state = state_at(2);
  const auto pointers = state.pointers();
  REQUIRE(engine->save(request_of(state, 2, pointers)).has_value());
  engine.reset();  // without waiting: its socket and its arena with it
  world.finish();

  REQUIRE(world.done().size() == 2);
  CHECK(world.done()[1].committed);
  CHECK(world.store.objects().empty());  // the trainer has written nothing itself
  const auto store = cloud->open();
  CHECK(*fetch_steps(*store, {}) == std::vector<std::int64_t>{2, 1});
  for (const std::int64_t step : {1, 2})
    CHECK(*load_all(*store, *fetch_chain(*store, step, {})) == expected_at(step));
  CHECK(cloud->leftovers() == 0);
  CHECK(world.complaints().empty());
}

}  // namespace
}  // namespace amdahl::checkpoint::test
