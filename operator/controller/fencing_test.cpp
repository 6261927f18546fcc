// What a process that is not, or no longer, the leader can do to the cluster: nothing.
#include <catch2/catch.hpp>

#include "operator/controller/test_election_world.hpp"

namespace amdahl::controller {
namespace {
using namespace std::chrono_literals;
using Replica = ElectionReplica;
using World = ElectionWorld;

const ObjectKey kPod{.ns = "research", .name = "llama-1-0"};

Task<Result<Json>> read_then_write(Replica& replica) {
  WriteGate gate;
  Writer writer(replica.client, gate, {.ns = "research", .name = "llama"},
                {.epoch = *replica.epoch});
  co_return co_await writer.apply_object(
      {.resource = kube::kPods,
       .object = {{"metadata", {{"name", kPod.name}, {"namespace", kPod.ns}}},
                  {"spec", {{"by", replica.epoch->transitions}}}}});
}

Task<void> write_later(Replica& replica, std::chrono::seconds delay,
                       std::optional<Result<Json>>& result) {
  if (!co_await replica.clock.sleep_for(delay)) co_return;
  result.emplace(co_await read_then_write(replica));
}

Task<void> paused_leader_writes(World& world) {
  world.a.start();
  co_await world.clock.sleep_for(5s);
  REQUIRE(world.a.election.leading());
  world.b.start();
  std::optional<Result<Json>> first;
  world.a.group.spawn("write", write_later(world.a, 1s, first));
  co_await world.clock.sleep_for(2s);
  REQUIRE(first);
  REQUIRE(*first);  // while it leads it may write

  std::optional<Result<Json>> late;
  world.a.group.spawn("late write", write_later(world.a, 3s, late));
  world.a.clock.pause();
  co_await world.clock.sleep_for(60s);
  CHECK_FALSE(late);                  // the process does not run
  CHECK(world.a.election.leading());  // and so believes what it believed
  REQUIRE(world.b.election.leading());
  REQUIRE(co_await read_then_write(world.b));
  const auto version = world.server.version();

  world.a.clock.resume();
  co_await world.clock.sleep_for(1ms);
  REQUIRE(late);
  REQUIRE_FALSE(*late);
  CHECK(late->error().code == Errc::kFenced);
  CHECK(world.server.version() == version);  // nothing reached the server
  CHECK(world.server.find(kube::kPods, kPod)["spec"]["by"] == 1);
  co_await world.clock.sleep_for(5s);
  CHECK(world.a.ended);
  co_await World::finish(world);
}

TEST_CASE("A leader that was stopped past its lease and wakes up cannot write", "[E2][F8]") {
  World world;
  run_simulated(world.io, world.clock, paused_leader_writes(world));
}

Task<void> follower_writes(World& world) {
  world.a.start();
  co_await world.clock.sleep_for(5s);
  world.b.epoch = Epoch{9};
  const auto written = co_await read_then_write(world.b);
  REQUIRE_FALSE(written);
  CHECK(written.error().code == Errc::kFenced);
  CHECK(world.server.find(kube::kPods, kPod).is_null());
  co_await World::finish(world);
}

TEST_CASE("A follower cannot write", "[E2]") {
  World world;
  run_simulated(world.io, world.clock, follower_writes(world));
}

}  // namespace
}  // namespace amdahl::controller
