#include "operator/controller/leader_election.hpp"

#include <catch2/catch.hpp>

#include "operator/controller/test_election_world.hpp"

namespace amdahl::controller {
namespace {
using namespace std::chrono_literals;
using testkit::Fault;
using Replica = ElectionReplica;
using World = ElectionWorld;

Task<void> one_leads(World& world) {
  world.a.start();
  world.b.start();
  co_await world.clock.sleep_for(60s);
  const bool a_leads = world.a.election.leading();
  CHECK(a_leads != world.b.election.leading());
  Replica& leader = a_leads ? world.a : world.b;
  CHECK(leader.epoch == Epoch{0});
  CHECK(world.spec()["holderIdentity"] == (a_leads ? "a" : "b"));
  CHECK(world.spec()["leaseDurationSeconds"] == 15);
  CHECK(world.spec()["leaseTransitions"] == 0);
  CHECK(leader.metrics.leader.value() == 1);
  CHECK(leader.metrics.renewals.value() > 20);
  co_await World::finish(world);
}

TEST_CASE("Of two candidates one leads and renews; the other waits", "[E1][E5]") {
  World world;
  run_simulated(world.io, world.clock, one_leads(world));
}

Task<void> silent_leader_is_replaced(World& world) {
  world.a.start();
  co_await world.clock.sleep_for(5s);
  world.b.start();
  co_await world.clock.sleep_for(20s);
  REQUIRE(world.a.election.leading());
  REQUIRE_FALSE(world.b.election.leading());
  const Monotonic cut = world.clock.monotonic();
  world.a.wire.broken = true;
  co_await world.clock.sleep_for(60s);
  REQUIRE(world.a.ended);
  CHECK(world.a.ended->code == Errc::kFenced);
  CHECK_THAT(world.a.ended->context, Catch::Contains("network unreachable"));
  CHECK(world.b.election.leading());
  CHECK(world.b.epoch == Epoch{1});
  // Nobody leads before the old leader's fence is shut.
  CHECK(world.b.led_at - cut > 10s);
  CHECK(world.b.led_at - cut < 25s);
  co_await World::finish(world);
}

TEST_CASE("A leader that is cut off stops by itself before another takes over in a new term",
          "[E1][E2][E3]") {
  World world;
  run_simulated(world.io, world.clock, silent_leader_is_replaced(world));
}

Task<void> hand_over(World& world) {
  world.a.start();
  co_await world.clock.sleep_for(5s);
  world.b.start();
  co_await world.clock.sleep_for(10s);
  REQUIRE(world.a.election.leading());
  world.a.group.stop();
  CHECK(co_await world.a.group.join(world.clock, Monotonic::max()));
  CHECK(world.a.ended->code == Errc::kCancelled);
  const Monotonic released_at = world.clock.monotonic();
  CHECK(co_await world.a.election.release());
  CHECK_FALSE(world.a.election.may_write(world.clock.monotonic()));
  CHECK_FALSE(world.spec().contains("holderIdentity"));
  CHECK(world.spec()["leaseDurationSeconds"] == 1);
  co_await world.clock.sleep_for(10s);
  REQUIRE(world.b.election.leading());
  CHECK(world.b.led_at - released_at < 5s);  // a retry period, not a lease
  CHECK(world.b.epoch == Epoch{1});
  co_await World::finish(world);
}

TEST_CASE("A leader that goes of its own will hands over within a retry period", "[E4]") {
  World world;
  run_simulated(world.io, world.clock, hand_over(world));
}

Task<void> release_after_lost_answer(World& world) {
  world.a.start();
  co_await world.clock.sleep_for(5s);
  world.server.inject(Fault::kLoseAnswer, "PATCH", "leases");
  co_await world.clock.sleep_for(2s);
  world.a.group.stop();
  CHECK(co_await world.a.group.join(world.clock, Monotonic::max()));
  CHECK(co_await world.a.election.release());
  CHECK_FALSE(world.spec().contains("holderIdentity"));
}

TEST_CASE("A release works although the last renewal's answer was lost", "[E4]") {
  World world;
  run_simulated(world.io, world.clock, release_after_lost_answer(world));
}

Task<void> survive_faults(World& world) {
  world.a.start();
  co_await world.clock.sleep_for(5s);
  world.b.start();
  for (const Fault fault :
       {Fault::kLoseAnswer, Fault::kDrop, Fault::kThrottle, Fault::kUnavailable}) {
    world.server.inject(fault, "PATCH", "leases", 2);
    co_await world.clock.sleep_for(20s);
    CHECK(world.a.election.leading());
    CHECK(world.a.epoch == Epoch{0});
  }
  CHECK_FALSE(world.b.epoch);
  CHECK(world.a.metrics.failures.value() >= 8);
  co_await World::finish(world);
}

TEST_CASE("Single faults of every sort do not cost the lease", "[E1]") {
  World world;
  run_simulated(world.io, world.clock, survive_faults(world));
}

Task<void> wall_clock_jumps(World& world) {
  world.a.start();
  co_await world.clock.sleep_for(5s);
  world.b.start();
  for (const auto jump : {std::chrono::microseconds{24h}, std::chrono::microseconds{-240h}}) {
    world.clock.jump_wall(jump);
    co_await world.clock.sleep_for(60s);
    CHECK(world.a.election.leading());
    CHECK_FALSE(world.b.epoch);
  }
  co_await World::finish(world);
}

TEST_CASE("Wall clocks that jump by days move no leadership", "[E1]") {
  World world;
  run_simulated(world.io, world.clock, wall_clock_jumps(world));
}

Task<void> keeps_labels(World& world) {
  world.server.create(kube::kLeases, {{"metadata",
                                       {{"name", kElectionLease.name},
                                        {"namespace", kElectionLease.ns},
                                        {"labels", {{"team", "x"}}}}},
                                      {"spec", Json::object()}});
  world.a.start();
  co_await world.clock.sleep_for(10s);
  CHECK(world.a.election.leading());
  CHECK(world.server.find(kube::kLeases, kElectionLease)["metadata"]["labels"]["team"] == "x");
  co_await World::finish(world);
}

TEST_CASE("An empty lease that somebody prepared is taken, and its labels stay", "[E1]") {
  World world;
  run_simulated(world.io, world.clock, keeps_labels(world));
}

// Sees what the election asks the wire for.
class LaneCheck final : public kube::Transport {
 public:
  Task<Result<kube::Response>> send(kube::Request request, Monotonic deadline) override {
    CHECK(request.lane == kube::Lane::kLease);
    CHECK_FALSE(request.fenced);
    deadlines.push_back(deadline);
    ++requests;
    co_return fail(Errc::kIo, "away");
  }
  Task<Result<kube::StreamResponse>> open(kube::Request, Monotonic) override {
    co_return fail(Errc::kIo, "no");
  }
  void set_fence(const kube::WriteFence*) override {}
  int requests = 0;
  std::vector<Monotonic> deadlines;
};

Task<void> try_for(ManualClock& clock, LeaderElection& election,
                   boost::asio::any_io_executor executor) {
  TaskGroup group(executor);
  const auto acquire = [](LeaderElection& candidate) -> Task<void> {
    (void)co_await candidate.acquire();
  };
  group.spawn("acquire", acquire(election));
  co_await clock.sleep_for(30s);
  group.stop();
  CHECK(co_await group.join(clock, Monotonic::max()));
}

TEST_CASE("Lease requests go by their own lane, unfenced and with short deadlines", "[E7][E1]") {
  boost::asio::io_context io;
  ManualClock clock;
  LaneCheck wire;
  kube::Client client(wire, clock, Rng(1));
  MetricsRegistry registry;
  LeaderMetrics metrics(registry);
  LeaderElection election(client, Rng(1), {.lease = kElectionLease, .identity = "a"}, metrics,
                          Log());
  run_simulated(io, clock, try_for(clock, election, io.get_executor()));
  CHECK(wire.requests >= 6);  // every 2 to 4.4 s
  CHECK(wire.requests <= 16);
  CHECK(wire.deadlines.front() == Monotonic{5s});
}

TEST_CASE("Leader election refuses options that cannot work", "[E1]") {
  CHECK(validate(LeaderElectionOptions{.lease = kElectionLease, .identity = "a"}));
  CHECK_FALSE(validate(LeaderElectionOptions{.lease = kElectionLease}));
  CHECK_FALSE(validate(LeaderElectionOptions{.identity = "a"}));
  CHECK_FALSE(validate(
      LeaderElectionOptions{.lease = kElectionLease, .identity = "a", .timings = {.renew = 20s}}));
}

}  // namespace
}  // namespace amdahl::controller
