#include "operator/controller/manager.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "base/task_group.hpp"
#include "operator/kube/types.hpp"
#include "tests/kit/fake_source.hpp"
#include "tests/kit/memory_server.hpp"

namespace amdahl::controller {
namespace {
using namespace std::chrono_literals;
using testkit::FakeSource;

const ObjectKey kLease{.ns = "amdahl-system", .name = "operator"};
const ObjectKey kJob{.ns = "ns", .name = "a"};

class Slow final : public Reconciler {
 public:
  explicit Slow(Clock& clock, std::vector<std::string>& order) : clock_(clock), order_(order) {}
  Task<Result<Outcome>> reconcile(ObjectKey /*key*/, Reconcile context) override {
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    order_.push_back("reconcile begins");
    epoch = context.writer.epoch();
    if (!co_await clock_.sleep_for(takes)) {
      order_.push_back("reconcile cut off");
      co_return fail(Errc::kCancelled, "cut off");
    }
    order_.push_back("reconcile ends");
    co_return Outcome{};
  }
  std::chrono::nanoseconds takes{0};
  Epoch epoch{-1};

 private:
  Clock& clock_;
  std::vector<std::string>& order_;
};

// One process with one controller. The order of what happens to it is written down.
struct Process {
  Process(boost::asio::io_context& io, ManualClock& world, testkit::MemoryServer& server,
          std::string identity)
      : clock(world),
        wire(server, world),
        client(wire, world, Rng(1)),
        manager({io.get_executor(), client, registry, Log()},
                Rng(std::hash<std::string>{}(identity)),
                {.election = LeaderElectionOptions{.lease = kLease, .identity = identity},
                 .on_lost = [this](const Error&) { order.push_back("lost"); }}),
        reconciler(world, order),
        controller({io.get_executor(), client, registry, Log()}, Rng(3), {.name = "jobs"},
                   reconciler) {
    controller.reconciles(jobs);
    manager.add_source(jobs, [this] { return feed(*this); });
    manager.add(controller);
  }
  // Delivers the first set after three seconds, then stays.
  static Task<void> feed(Process& self) {
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    self.order.push_back(self.manager.probe_port() != 0 ? "source begins with probes up"
                                                        : "source begins");
    if (co_await self.clock.sleep_for(3s)) {
      self.jobs.add(kJob, true);
      self.jobs.publish();
      self.order.push_back("source synced");
      (void)co_await self.clock.sleep_for(1000h);
    }
    self.order.push_back("source ends");
  }
  static Task<void> run(Process& self) {
    self.ended.emplace(co_await self.manager.run());
    self.order.push_back("process ends");
  }

  ManualClock& clock;
  std::vector<std::string> order;
  testkit::MemoryTransport wire;
  kube::Client client;
  MetricsRegistry registry;
  Manager manager;
  Slow reconciler;
  FakeSource jobs{"TrainingJob"};
  Controller controller;
  std::optional<Result<void>> ended;
};

struct World {
  boost::asio::io_context io;
  ManualClock clock;
  testkit::MemoryServer server{io.get_executor(), clock};
  Process a{io, clock, server, "a"};
  Process b{io, clock, server, "b"};

  template <class Steps>
  void run(Steps steps) {
    run_simulated(io, clock, run_with(*this, steps));
  }
  static Task<void> run_with(World& world, Task<void> (*steps)(World&, TaskGroup&)) {
    TaskGroup group(world.io.get_executor());
    co_await steps(world, group);
    world.a.manager.stop();
    world.b.manager.stop();
    CHECK(co_await group.join(world.clock, world.clock.monotonic() + 10min));
  }
};
using Strings = std::vector<std::string>;

TEST_CASE(
    "Manager starts probes, caches, leadership and workers in this order, and stops in reverse",
    "[E6]") {
  World world;
  world.a.reconciler.takes = 5s;
  world.run(+[](World& w, TaskGroup& group) -> Task<void> {
    group.spawn("a", Process::run(w.a));
    co_await w.clock.sleep_for(2s);
    CHECK(w.a.manager.leading());  // leads, but waits for its caches
    CHECK_THAT(w.a.manager.not_ready(), Catch::Contains("TrainingJob"));
    CHECK(w.a.manager.not_live().empty());
    co_await w.clock.sleep_for(2s);
    CHECK(w.a.manager.not_ready().empty());
    w.a.manager.stop();
    co_await w.clock.sleep_for(1s);
    CHECK(w.server.find(kube::kLeases, kLease)["spec"]["holderIdentity"] == "a");  // still drains
    co_await w.clock.sleep_for(10s);
    REQUIRE(w.a.ended);
    CHECK(*w.a.ended);
    CHECK_FALSE(w.server.find(kube::kLeases, kLease)["spec"].contains("holderIdentity"));
    CHECK(w.a.order == Strings{"source begins with probes up", "source synced", "reconcile begins",
                               "reconcile ends", "source ends", "process ends"});
  });
}

TEST_CASE("A reconcile that outlives the drain is cut off, and only then the lease is released",
          "[E4][E6]") {
  World world;
  world.a.reconciler.takes = 1h;
  world.run(+[](World& w, TaskGroup& group) -> Task<void> {
    group.spawn("a", Process::run(w.a));
    co_await w.clock.sleep_for(5s);
    w.a.manager.stop();
    co_await w.clock.sleep_for(29s);
    CHECK(w.server.find(kube::kLeases, kLease)["spec"]["holderIdentity"] == "a");
    co_await w.clock.sleep_for(5s);
    REQUIRE(w.a.ended);
    CHECK(*w.a.ended);
    CHECK(w.a.order == Strings{"source begins with probes up", "source synced", "reconcile begins",
                               "reconcile cut off", "source ends", "process ends"});
  });
}

TEST_CASE("A follower fills its caches and queue, and works as soon as it leads", "[E5]") {
  World world;
  world.run(+[](World& w, TaskGroup& group) -> Task<void> {
    group.spawn("a", Process::run(w.a));
    co_await w.clock.sleep_for(5s);
    group.spawn("b", Process::run(w.b));
    co_await w.clock.sleep_for(60s);
    CHECK_FALSE(w.b.manager.leading());
    CHECK(w.b.manager.not_ready().empty());  // ready to take over
    CHECK(w.b.manager.not_live().empty());
    CHECK(w.b.controller.queue().depth() == 1);
    CHECK(w.b.order == Strings{"source begins with probes up", "source synced"});
    w.a.manager.stop();
    co_await w.clock.sleep_for(6s);
    CHECK(w.b.manager.leading());
    CHECK(w.b.reconciler.epoch == Epoch{1});
    CHECK(w.b.order.back() == "reconcile ends");
  });
}

TEST_CASE("A process that loses the lease ends at once, without draining", "[E2]") {
  World world;
  world.a.reconciler.takes = 1h;
  world.run(+[](World& w, TaskGroup& group) -> Task<void> {
    group.spawn("a", Process::run(w.a));
    co_await w.clock.sleep_for(10s);
    const Monotonic cut = w.clock.monotonic();
    w.a.wire.broken = true;
    while (!w.a.ended) co_await w.clock.sleep_for(100ms);
    CHECK(w.clock.monotonic() - cut < 11s);
    REQUIRE_FALSE(*w.a.ended);
    CHECK(w.a.ended->error().code == Errc::kFenced);
    CHECK(w.a.order == Strings{"source begins with probes up", "source synced", "reconcile begins",
                               "lost", "reconcile cut off", "source ends", "process ends"});
  });
}

TEST_CASE("An unreachable API server makes nobody unhealthy who does not lead", "[E6]") {
  World world;
  world.run(+[](World& w, TaskGroup& group) -> Task<void> {
    w.b.wire.broken = true;
    group.spawn("b", Process::run(w.b));
    co_await w.clock.sleep_for(1h);
    CHECK(w.b.manager.not_live().empty());
    CHECK_FALSE(w.b.manager.leading());
  });
}

TEST_CASE("Without an election a process leads from the start", "[E6]") {
  boost::asio::io_context io;
  ManualClock clock;
  testkit::MemoryServer server(io.get_executor(), clock);
  testkit::MemoryTransport wire(server, clock);
  kube::Client client(wire, clock, Rng(1));
  MetricsRegistry registry;
  Manager manager({io.get_executor(), client, registry, Log()}, Rng(1), {});
  const auto run = [](Manager& m, ManualClock& c,
                      boost::asio::any_io_executor executor) -> Task<void> {
    TaskGroup group(executor);
    const auto drive = [](Manager& managed) -> Task<void> { CHECK(co_await managed.run()); };
    group.spawn("manager", drive(m));
    co_await c.sleep_for(1s);
    CHECK(m.leading());
    m.events().record(
        {.subject = {.kind = "Node", .key = {.ns = "", .name = "n"}}, .reason = "Hello"});
    m.stop();
    CHECK(co_await group.join(c, c.monotonic() + 1min));
  };
  run_simulated(io, clock, run(manager, clock, io.get_executor()));
  CHECK(server.list(kube::kEvents).size() == 1);  // what was said is written before the end
}

}  // namespace
}  // namespace amdahl::controller
