// A whole controller: every ConfigMap labelled mirror=yes gets a child <name>-mirror with its data.
//
//   kubectl create configmap greeting --from-literal=hello=world
//   kubectl label configmap greeting mirror=yes
//   build/dev/examples/mirror_controller [NAMESPACE]     # uses KUBECONFIG, as kubectl does
//
// Delete or edit the mirror and it comes back; delete the original and it goes.
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/json_encode.hpp"
#include "base/metrics.hpp"
#include "base/task_group.hpp"
#include "operator/controller/child.hpp"
#include "operator/controller/manager.hpp"
#include "operator/controller/signals.hpp"
#include "operator/controller/store.hpp"
#include "operator/kube/session.hpp"
#include "operator/kube/types.hpp"

namespace {
using namespace amdahl;
using namespace amdahl::controller;
using kube::ConfigMap;
using Maps = Store<ConfigMap>;

struct Observed {
  Maps::Ptr original;
  Maps::Ptr mirror;  // null: there is none
};

struct Plan {
  Observed seen;
  bool create = false;
  bool update = false;
};

class Mirror final : public ObserveDecideApply<Observed, Plan> {
 public:
  explicit Mirror(const Maps& maps) : maps_(maps) {}

  Result<std::optional<Observed>> observe(const ObjectKey& key) override {
    const Maps::Ptr original = maps_.find(key);
    if (!original || original->metadata.labels.find("mirror") != "yes") return std::nullopt;
    const std::string child = child_name(key.name, {.role = "mirror"});
    return Observed{.original = original, .mirror = maps_.find({.ns = key.ns, .name = child})};
  }

  Plan decide(const Observed& seen, WallTime /*now*/) const override {
    const bool same = seen.mirror && seen.mirror->data == seen.original->data;
    return {.seen = seen,
            .create = !seen.mirror && !seen.original->metadata.deleted,
            .update = seen.mirror && !same};
  }

  Task<Result<Outcome>> apply(Plan plan, Writer& writer) override {
    const Json data = encode(plan.seen.original->data);
    if (plan.create) {
      const std::string name = child_name(plan.seen.original->metadata.name, {.role = "mirror"});
      Json child{{"metadata", {{"name", name}}}, {"data", data}};
      CO_TRY(co_await writer.create_child(ConfigMap::resource(), std::move(child),
                                          owner_object(*plan.seen.original)));
    }
    if (plan.update) {
      const Json change{{"data", merge_diff(encode(plan.seen.mirror->data), data)}};
      CO_TRY(co_await writer.patch(ConfigMap::resource(), plan.seen.mirror->metadata.key(),
                                   plan.seen.mirror->metadata.version, change));
    }
    co_return Outcome{};
  }

 private:
  const Maps& maps_;
};

Task<int> run(boost::asio::io_context& io, Clock& clock, Rng rng, kube::Session& session, Log log) {
  MetricsRegistry metrics;
  const Runtime runtime{
      .executor = io.get_executor(), .client = session.client(), .metrics = metrics, .log = log};
  Maps maps;
  kube::Watcher watcher(
      session.client(), rng.split(),
      {.resource = ConfigMap::resource(), .ns = session.ns(), .shape = Maps::shape()}, maps);
  Mirror mirror(maps);
  Controller controller(runtime, rng.split(), {.name = "mirror"}, mirror);
  controller.reconciles(maps);
  controller.owns(maps);
  Manager manager(runtime, rng.split(), {.event_source = {.controller = "example/mirror"}});
  manager.add_source(maps, [&watcher] { return watcher.run(); });
  manager.add(controller);
  const StopSignals signals(
      io.get_executor(), [&manager] { manager.stop(); }, [] { std::_Exit(1); });
  const auto ended = co_await manager.run();
  if (!ended) log.error("stopped", {{"cause", ended.error().context}});
  (void)co_await session.close(clock.monotonic() + std::chrono::seconds{5});
  co_return ended ? 0 : 1;
}

Result<int> start(std::string ns) {
  boost::asio::io_context io;
  RealClock clock;
  Rng rng(static_cast<std::uint64_t>(clock.wall().time_since_epoch().count()));
  const Log log(clock, fd_log_sink(STDERR_FILENO));
  const kube::Environment environment = kube::process_environment();
  TRY(const kube::Config config, kube::load_config({.ns = ns}, environment));
  TRY(const auto session, kube::Session::make(io.get_executor(), clock, rng.split(), config,
                                              environment, {.log = log}));
  return run_until_complete(io, run(io, clock, rng.split(), *session, log), {.wall = {}});
}

}  // namespace

int main(int argc, char** argv) {
  const auto code = start(argc > 1 ? argv[1] : "");
  if (!code) std::fprintf(stderr, "mirror_controller: %s\n", code.error().context.c_str());
  return code ? *code : 1;
}
