// Old checkpoints go after a commit, and nobody who waits for the commit waits for that.
#include <catch2/catch.hpp>

#include "checkpoint/engine/catalog.hpp"
#include "checkpoint/engine/test_agent.hpp"

namespace amdahl::checkpoint {
namespace {

using namespace std::chrono_literals;
using test::check_ok;

struct World {
  MemoryStore memory = {};
  test::Gate creations = {};
  test::Gate removals = {};
  test::SharedStore store{memory, creations, removals};
  RealClock clock = {};
  RealWaiter waiter = {};

  std::unique_ptr<Engine> open() {
    EngineOptions options = test::small_options(test::identity("a"));
    options.retention.keep_last = 1;
    return *Engine::open(store, clock, waiter, std::move(options));
  }
  void save(Engine& engine, std::int64_t step) {
    const test::TestState state = test::state_at(step);
    check_ok(engine.save(test::request_of(state, step, state.pointers())));
  }
};

TEST_CASE("Engine says that a save is committed before what it replaced is gone") {
  World world;
  const auto engine = world.open();
  world.save(*engine, 10);
  check_ok(engine->settle(30s));
  world.removals.set(false);
  world.save(*engine, 20);
  check_ok(engine->wait(30s));
  CHECK(*engine->status().committed_step == 20);
  world.removals.until_somebody_waits();
  CHECK(fetch_steps(world.store, {}).value() == std::vector<std::int64_t>{20, 10});
  const auto unsettled = engine->settle(1ms);
  REQUIRE_FALSE(unsettled.has_value());
  CHECK(unsettled.error().code == Errc::kTimeout);
  CHECK(unsettled.error().context.find("are being removed") != std::string::npos);
  world.removals.set(true);
  check_ok(engine->settle(30s));
  CHECK(fetch_steps(world.store, {}).value() == std::vector<std::int64_t>{20});
}

TEST_CASE("Engine takes the next save while old checkpoints are being removed") {
  World world;
  const auto engine = world.open();
  world.save(*engine, 10);
  check_ok(engine->settle(30s));
  world.removals.set(false);
  world.save(*engine, 20);
  check_ok(engine->wait(30s));
  world.removals.until_somebody_waits();
  world.save(*engine, 30);  // its memory is free again
  world.removals.set(true);
  check_ok(engine->settle(30s));
  CHECK(fetch_steps(world.store, {}).value() == std::vector<std::int64_t>{30});
}

TEST_CASE("Engine that ends while it removes leaves nothing half") {
  World world;
  {
    const auto engine = world.open();
    world.save(*engine, 10);
    check_ok(engine->settle(30s));
    world.removals.set(false);
    world.save(*engine, 20);
    check_ok(engine->wait(30s));
    world.removals.until_somebody_waits();
  }
  const auto newest = fetch_newest(world.store, {}, 1000);
  REQUIRE(newest.has_value());
  CHECK(newest->passed_over.empty());
  CHECK(test::load_all(world.store, newest->chain).value() == test::expected_at(20));
}

}  // namespace
}  // namespace amdahl::checkpoint
