// An embedded API server in virtual time with Volcano's kinds, a scheduler on it, and an admin.
#pragma once

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "base/json_encode.hpp"
#include "base/metrics.hpp"
#include "base/task_group.hpp"
#include "local/apiserver/front/durable_server.hpp"
#include "local/apiserver/front/in_process_transport.hpp"
#include "local/apiserver/front/tokens.hpp"
#include "local/apiserver/rules/served_kinds.hpp"
#include "local/scheduler/scheduler.hpp"
#include "local/scheduler/types.hpp"
#include "local/scheduler/volcano_crds.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::local {

inline const kube::Resource kCrds{.group = "apiextensions.k8s.io",
                                  .version = "v1",
                                  .plural = "customresourcedefinitions",
                                  .kind = "CustomResourceDefinition",
                                  .namespaced = false};

struct LocalCluster {
  boost::asio::io_context io;
  ManualClock clock;
  BuiltinSchemas schemas;
  Tokens tokens{std::string(64, 'a'), std::string(64, 's')};
  ServedKinds rules{schemas, tokens, "127.0.0.1"};
  ApiServer server{rules, Rng(7)};
  std::unique_ptr<Journal> journal;
  std::unique_ptr<DurableServer> durable;
  std::unique_ptr<InProcessTransport> admin_wire;
  std::unique_ptr<InProcessTransport> scheduler_wire;
  std::unique_ptr<kube::Client> admin;
  std::unique_ptr<kube::Client> scheduler_client;
  MetricsRegistry metrics;
  std::unique_ptr<Scheduler> scheduler;

  LocalCluster() {
    auto opened = Journal::open(":memory:");
    REQUIRE(opened);
    journal = *std::move(opened);
    durable = std::make_unique<DurableServer>(io.get_executor(), clock, server, *journal);
    REQUIRE(durable->start());
    admin_wire = std::make_unique<InProcessTransport>(
        *durable, clock, User{.name = "admin", .groups = {"system:masters"}});
    scheduler_wire = std::make_unique<InProcessTransport>(
        *durable, clock, User{.name = "system:kube-scheduler", .groups = {"system:masters"}});
    admin = std::make_unique<kube::Client>(*admin_wire, clock, Rng(1));
    scheduler_client = std::make_unique<kube::Client>(*scheduler_wire, clock, Rng(2));
    scheduler = std::make_unique<Scheduler>(
        controller::Runtime{io.get_executor(), *scheduler_client, metrics, Log()}, Rng(3));
  }

  Task<Json> create(kube::Resource resource, Json manifest) {
    const kube::DynamicApi api(*admin, resource);
    manifest["apiVersion"] = resource.api_version();
    manifest["kind"] = resource.kind;
    auto made = co_await api.create(manifest);
    INFO((made ? "" : made.error().context));
    REQUIRE(made);
    co_return *std::move(made);
  }
  Task<Json> get(kube::Resource resource, kube::ObjectKey key) {
    const kube::DynamicApi api(*admin, resource);
    auto found = co_await api.get(key);
    INFO((found ? "" : found.error().context));
    REQUIRE(found);
    co_return *std::move(found);
  }
  Task<void> install() {
    for (Json& crd : volcano_crd_manifests()) (void)co_await create(kCrds, crd);
    co_await clock.sleep_for(std::chrono::seconds{2});  // until the kinds are served
    (void)co_await create(kube::kNamespaces, {{"metadata", {{"name", "ns"}}}});
    (void)co_await create(scheduling::cached::kQueues, default_queue_manifest());
  }

  static Task<void> drive(Scheduler& scheduler) {
    const auto ended = co_await scheduler.run();
    CHECK(ended.has_value());
  }
  // Runs the scheduler, and the test's own steps beside it; then stops everything.
  template <class Steps>
  void run(Steps steps) {
    run_simulated(io, clock, run_with(*this, steps(*this)));
  }
  static Task<void> run_with(LocalCluster& cluster, Task<void> steps) {
    co_await cluster.install();
    TaskGroup work(cluster.io.get_executor());
    work.spawn("scheduler", drive(*cluster.scheduler));
    co_await std::move(steps);
    cluster.scheduler->stop();
    CHECK(co_await work.join(cluster.clock, cluster.clock.monotonic() + std::chrono::minutes{1}));
    (void)co_await cluster.durable->stop(cluster.clock.monotonic() + std::chrono::seconds{5});
  }
};

}  // namespace amdahl::local
