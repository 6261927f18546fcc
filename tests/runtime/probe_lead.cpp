// An operator that writes a new ConfigMap every 50 ms for as long as it leads.
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/metrics.hpp"
#include "operator/controller/child.hpp"
#include "operator/controller/manager.hpp"
#include "operator/controller/signals.hpp"
#include "operator/controller/store.hpp"
#include "operator/kube/types.hpp"
#include "tests/runtime/probe.hpp"

namespace amdahl::probe {
namespace {
using namespace amdahl::controller;
using kube::ConfigMap;
using Maps = Store<ConfigMap>;

constexpr std::chrono::milliseconds kPause{50};
constexpr int kLostExit = 3;

// Reconciles one object, the seed, for ever: each time it writes one more child of it.
class Scribe final : public Reconciler {
 public:
  Scribe(const Maps& maps, std::string identity) : maps_(maps), identity_(std::move(identity)) {}

  Task<Result<Outcome>> reconcile(ObjectKey key, Reconcile context) override {
    const Maps::Ptr seed = maps_.find(key);
    if (key.name != "seed" || !seed) co_return Outcome{};
    const std::int64_t epoch = context.writer.epoch().transitions;
    if (written_ == 0) say({{"ev", "leading"}, {"epoch", epoch}});
    const std::string name = fmt::format("{}-{}-{}", identity_, epoch, written_++);
    Json child{{"metadata", {{"name", name}}}, {"data", {{"writer", identity_}}}};
    const auto made = co_await context.writer.create_child(ConfigMap::resource(), std::move(child),
                                                           owner_object(*seed));
    if (!made)
      say({{"ev", "error"},
           {"code", amdahl::name(made.error().code)},
           {"text", made.error().context}});
    if (!made) co_return std::unexpected(made.error());
    say({{"ev", "written"}, {"name", name}});
    co_return Outcome{.requeue_after = kPause};
  }

 private:
  const Maps& maps_;
  std::string identity_;
  std::uint64_t written_ = 0;
};

Task<void> plant_seed(kube::Client& client, std::string ns) {
  const Json seed{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "seed"}}}};
  auto create = kube::create_request(ConfigMap::resource(), ns, "seed", seed.dump());
  const auto made = co_await client.send(*std::move(create));
  if (!made && made.error().code != Errc::kAlreadyExists)
    say({{"ev", "error"}, {"text", made.error().context}});
}

Task<void> say_when_synced(const Maps& maps, Clock& clock) {
  while (!maps.synced())
    if (!co_await clock.sleep_for(std::chrono::milliseconds{20})) co_return;
  say({{"ev", "synced"}, {"objects", maps.size()}});
}

}  // namespace

Task<int> lead(World& world) {
  using namespace std::chrono_literals;
  kube::Client& client = world.session.client();
  co_await plant_seed(client, world.options.ns);
  MetricsRegistry metrics;
  const Runtime runtime{.executor = world.io.get_executor(),
                        .client = client,
                        .metrics = metrics,
                        .log = Log(world.clock, fd_log_sink(STDERR_FILENO), Severity::kWarning)};
  Maps maps;
  kube::Watcher watcher(
      client, world.rng.split(),
      {.resource = ConfigMap::resource(), .ns = world.options.ns, .shape = Maps::shape()}, maps);
  Scribe scribe(maps, world.options.identity);
  Controller controller(runtime, world.rng.split(), {.name = "scribe", .workers = 1}, scribe);
  controller.reconciles(maps);
  Manager manager(
      runtime, world.rng.split(),
      {.election = LeaderElectionOptions{.lease = {.ns = world.options.ns, .name = "runtime-probe"},
                                         .identity = world.options.identity,
                                         .timings = {.lease = 4s, .renew = 3s, .retry = 500ms}},
       .event_source = {.controller = "probe", .instance = world.options.identity},
       .on_lost = [](const Error&) { std::_Exit(kLostExit); }});
  manager.add_source(maps, [&watcher] { return watcher.run(); });
  manager.add(controller);
  manager.add_background("synced", [&] { return say_when_synced(maps, world.clock); });
  const StopSignals signals(
      world.io.get_executor(), [&manager] { manager.stop(); }, [] { std::_Exit(1); });
  const auto ended = co_await manager.run();
  if (!ended) say({{"ev", "ended"}, {"text", ended.error().context}});
  co_return ended ? 0 : 1;
}

}  // namespace amdahl::probe
