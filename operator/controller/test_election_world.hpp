// For the tests of leader election: two processes and one server, in virtual time.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <catch2/catch.hpp>
#include <functional>
#include <optional>
#include <string>

#include "base/task_group.hpp"
#include "operator/controller/leader_election.hpp"
#include "operator/kube/types.hpp"
#include "tests/kit/memory_server.hpp"
#include "tests/kit/pausable_clock.hpp"

namespace amdahl::controller {

inline const ObjectKey kElectionLease{.ns = "amdahl-system", .name = "operator"};

// One process: its own clock, wire, client and election.
struct ElectionReplica {
  ElectionReplica(boost::asio::io_context& io, ManualClock& world, testkit::MemoryServer& server,
                  std::string identity)
      : clock(io.get_executor(), world),
        wire(server, clock),
        client(wire, clock, Rng(1)),
        election(client, Rng(std::hash<std::string>{}(identity)),
                 {.lease = kElectionLease, .identity = identity}, metrics, Log()),
        group(io.get_executor()) {
    wire.set_fence(&election);
  }

  testkit::PausableClock clock;
  testkit::MemoryTransport wire;
  kube::Client client;
  MetricsRegistry registry;
  LeaderMetrics metrics{registry};
  LeaderElection election;
  TaskGroup group;
  std::optional<Epoch> epoch;
  std::optional<Error> ended;
  Monotonic led_at{};

  static Task<void> lead(ElectionReplica& self) {
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    const auto acquired = co_await self.election.acquire();
    if (!acquired) co_return;
    self.epoch = *acquired;
    self.led_at = self.clock.monotonic();
    self.ended = co_await self.election.hold();
  }
  void start() { group.spawn("lead", lead(*this)); }
};

struct ElectionWorld {
  boost::asio::io_context io;
  ManualClock clock;
  testkit::MemoryServer server{io.get_executor(), clock};
  ElectionReplica a{io, clock, server, "a"};
  ElectionReplica b{io, clock, server, "b"};

  Json spec() const { return server.find(kube::kLeases, kElectionLease)["spec"]; }
  static Task<void> finish(ElectionWorld& world) {
    for (ElectionReplica* replica : {&world.a, &world.b}) {
      replica->clock.resume();
      replica->group.stop();
      CHECK(co_await replica->group.join(world.clock,
                                         world.clock.monotonic() + std::chrono::minutes{1}));
    }
  }
};

}  // namespace amdahl::controller
