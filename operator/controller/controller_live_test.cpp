// A controller with real caches and watches, against the server in memory.
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <set>

#include "base/task_group.hpp"
#include "operator/controller/controller.hpp"
#include "operator/controller/store.hpp"
#include "operator/kube/types.hpp"
#include "operator/kube/watcher.hpp"
#include "tests/kit/memory_server.hpp"

namespace amdahl::controller {
namespace {
using namespace std::chrono_literals;

// A config map, and whether its pod is in the cache.
struct Observed {
  OwnerObject owner{};
  bool has_pod = false;
};

// Makes one pod for each config map: the smallest controller with real caches.
class OnePodEach final : public ObserveDecideApply<Observed, Observed> {
 public:
  OnePodEach(Store<kube::ConfigMap>& maps, Store<kube::Pod>& pods) : maps_(maps), pods_(pods) {
    pods.add_index("owner", [](const kube::Pod& pod) {
      const auto owner = controller_of(pod);
      return owner ? std::vector<std::string>{owner->uid} : std::vector<std::string>{};
    });
  }
  Result<std::optional<Observed>> observe(const ObjectKey& object) override {
    const auto found = maps_.find(object);
    if (!found) return std::nullopt;
    pods_seen.push_back(pods_.size());
    return Observed{.owner = owner_object(*found),
                    .has_pod = !pods_.by_index("owner", found->metadata.uid).empty()};
  }
  Observed decide(const Observed& seen, WallTime /*now*/) const override { return seen; }
  Task<Result<Outcome>> apply(Observed plan, Writer& writer) override {
    if (plan.has_pod) co_return Outcome{};
    const std::string name = child_name(plan.owner.key.name, {.attempt = 1, .index = 0});
    Json pod = {{"metadata", {{"name", name}}}, {"spec", {{"image", "a"}}}};
    CO_TRY(co_await writer.create_child(kube::kPods, std::move(pod), std::move(plan.owner)));
    co_return Outcome{};
  }
  std::vector<std::size_t> pods_seen;

 private:
  Store<kube::ConfigMap>& maps_;
  Store<kube::Pod>& pods_;
};

// A controller with real watches against the server in memory.
struct Live {
  boost::asio::io_context io;
  ManualClock clock;
  testkit::MemoryServer server{io.get_executor(), clock};
  testkit::MemoryTransport wire{server, clock};
  kube::Client client{wire, clock, Rng(1)};
  MetricsRegistry registry;
  Store<kube::ConfigMap> maps;
  Store<kube::Pod> pods;
  kube::Watcher map_watcher{client, Rng(2), {.resource = kube::kConfigMaps}, maps};
  kube::Watcher pod_watcher{client, Rng(3), {.resource = kube::kPods}, pods};
  OnePodEach reconciler{maps, pods};
  Controller controller{
      {io.get_executor(), client, registry, Log()}, Rng(4), {.name = "maps"}, reconciler};

  Live() {
    controller.reconciles(maps);
    controller.owns(pods);
  }
  static Task<void> drive(Controller& controller) { (void)co_await controller.run(Epoch{1}); }
  static Task<void> run_with(Live& live, Task<void> steps) {
    TaskGroup watches(live.io.get_executor());
    TaskGroup work(live.io.get_executor());
    watches.spawn("maps", live.map_watcher.run());
    watches.spawn("pods", live.pod_watcher.run());
    work.spawn("controller", drive(live.controller));
    co_await std::move(steps);
    live.controller.stop();
    CHECK(co_await work.join(live.clock, live.clock.monotonic() + 1min));
    watches.stop();
    CHECK(co_await watches.join(live.clock, live.clock.monotonic() + 1min));
  }
};

Task<void> gate_holds(Live& live) {
  live.server.create(kube::kConfigMaps, {{"metadata", {{"name", "m"}, {"namespace", "ns"}}}});
  co_await live.clock.sleep_for(1s);
  CHECK(live.server.list(kube::kPods).size() == 1);
  live.server.hold_watches("pods");  // the cache of pods falls behind
  live.server.create(kube::kConfigMaps, {{"metadata", {{"name", "late"}, {"namespace", "ns"}}}});
  co_await live.clock.sleep_for(1s);
  CHECK(live.server.list(kube::kPods).size() == 2);
  REQUIRE(live.pods.size() == 1);
  const auto reconciles = live.reconciler.pods_seen.size();
  for (int i = 0; i < 5; ++i) {
    live.server.merge(kube::kConfigMaps, {.ns = "ns", .name = "late"},
                      {{"data", {{"n", std::to_string(i)}}}});
    co_await live.clock.sleep_for(1s);
  }
  CHECK(live.reconciler.pods_seen.size() == reconciles);  // held back: it has not seen its own pod
  live.server.release_watches();
  co_await live.clock.sleep_for(1s);
  REQUIRE(live.reconciler.pods_seen.size() > reconciles);
  CHECK(live.reconciler.pods_seen[reconciles] == 2);
  CHECK(live.server.list(kube::kPods).size() == 2);
}

TEST_CASE("A reconcile waits until the cache has seen what the last one wrote", "[W2]") {
  Live live;
  run_simulated(live.io, live.clock, Live::run_with(live, gate_holds(live)));
}

Task<void> answers_stay_out(Live& live) {
  co_await live.clock.sleep_for(1s);
  live.server.hold_watches("pods");
  live.server.create(kube::kConfigMaps, {{"metadata", {{"name", "m"}, {"namespace", "ns"}}}});
  co_await live.clock.sleep_for(1s);
  CHECK(live.server.list(kube::kPods).size() == 1);
  CHECK(live.pods.size() == 0);  // written and answered, but not yet seen by the watch
  live.server.release_watches();
  co_await live.clock.sleep_for(1s);
  CHECK(live.pods.contains({.ns = "ns", .name = "m-1-0"}));
}

TEST_CASE("The answer to a write reaches the cache only through the watch", "[L12]") {
  Live live;
  run_simulated(live.io, live.clock, Live::run_with(live, answers_stay_out(live)));
}

Task<void> child_comes_first(Live& live) {
  co_await live.clock.sleep_for(1s);
  live.server.hold_watches("configmaps");
  const Json map =
      live.server.create(kube::kConfigMaps, {{"metadata", {{"name", "m"}, {"namespace", "ns"}}}});
  Json pod{{"metadata", {{"name", "m-1-0"}, {"namespace", "ns"}}}};
  REQUIRE(set_owner(pod, {.resource = kube::kConfigMaps,
                          .key = {.ns = "ns", .name = "m"},
                          .uid = map["metadata"]["uid"]}));
  live.server.create(kube::kPods, pod);
  co_await live.clock.sleep_for(1s);
  CHECK(live.pods.size() == 1);
  CHECK(live.reconciler.pods_seen.empty());  // its owner is not in the cache: nothing to decide
  live.server.release_watches();
  co_await live.clock.sleep_for(1s);
  CHECK(live.reconciler.pods_seen.size() >= 1);
  CHECK(live.server.list(kube::kPods).size() == 1);
}

TEST_CASE("A child that is seen before its owner waits for it and is not made twice", "[L13]") {
  Live live;
  run_simulated(live.io, live.clock, Live::run_with(live, child_comes_first(live)));
}

Task<void> faults_everywhere(Live& live) {
  Rng rng(99);
  using testkit::Fault;
  for (int i = 0; i < 60; ++i) {
    const Fault fault = static_cast<Fault>(rng.below(4));
    if (rng.chance(0.7)) live.server.inject(fault, rng.chance(0.7) ? "POST" : "GET", "pods");
    live.server.create(
        kube::kConfigMaps,
        {{"metadata",
          {{"name", fmt::format("m{}", i)}, {"namespace", fmt::format("ns{}", i % 3)}}}});
    if (rng.chance(0.1)) live.server.compact();
    co_await live.clock.sleep_for(std::chrono::milliseconds{rng.below(500)});
  }
  co_await live.clock.sleep_for(10min);
  const auto pods = live.server.list(kube::kPods);
  CHECK(pods.size() == 60);
  std::set<std::string> owners;
  for (const Json& pod : pods)
    owners.insert(pod["metadata"]["ownerReferences"][0]["uid"].get<std::string>());
  CHECK(owners.size() == 60);
  CHECK(live.pods.size() == 60);
}

TEST_CASE("Whatever answers are lost, each owner ends with exactly one child", "[W1][W10]") {
  Live live;
  run_simulated(live.io, live.clock, Live::run_with(live, faults_everywhere(live)));
}

}  // namespace
}  // namespace amdahl::controller
