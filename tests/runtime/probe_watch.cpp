// A Store of ConfigMaps that tells every change, and all it has when "dump" comes in.
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "base/task_group.hpp"
#include "operator/controller/store.hpp"
#include "operator/kube/types.hpp"
#include "tests/runtime/probe.hpp"

namespace amdahl::probe {
namespace {
namespace asio = boost::asio;

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

using Maps = controller::Store<kube::ConfigMap>;

void say_change(const controller::Change& change) {
  const char* type = change.type == controller::ChangeType::kAdded     ? "+"
                     : change.type == controller::ChangeType::kUpdated ? "~"
                                                                       : "-";
  say({{"ev", "change"}, {"type", type}, {"name", change.key.name}, {"uid", change.uid}});
}

void dump(const Maps& maps, const kube::Watcher& watcher) {
  Json objects = Json::object();
  maps.for_each([&](const auto& map) { objects[map->metadata.name] = map->metadata.version; });
  say({{"ev", "dump"},
       {"objects", std::move(objects)},
       {"version", maps.version()},
       {"lists", watcher.counts().lists},
       {"opened", watcher.counts().opened},
       {"undecodable", watcher.counts().undecodable},
       {"rewinds", watcher.counts().rewinds},
       {"streams", watcher.state().server_streams}});
}

Task<void> answer_dumps(const Maps& maps, const kube::Watcher& watcher) {
  asio::posix::stream_descriptor input(co_await asio::this_coro::executor, dup(STDIN_FILENO));
  for (char byte = 0;;) {
    const auto [error, read] = co_await input.async_read_some(asio::buffer(&byte, 1), kTuple);
    if (error) co_return;
    if (byte == '\n') dump(maps, watcher);
  }
}

Task<void> say_when_synced(const Maps& maps, Clock& clock) {
  while (!maps.synced())
    if (!co_await clock.sleep_for(std::chrono::milliseconds{20})) co_return;
  say({{"ev", "synced"}, {"objects", maps.size()}});
}

}  // namespace

Task<int> watch(World& world) {
  Maps maps;
  maps.subscribe(say_change);
  kube::Watcher watcher(
      world.session.client(), world.rng.split(),
      {.resource = kube::ConfigMap::resource(),
       .ns = world.options.ns,
       .labels = world.options.labels,
       .shape = Maps::shape(),
       .on_problem =
           [](const Error& error) {
             say({{"ev", "problem"}, {"code", name(error.code)}, {"text", error.context}});
           }},
      maps);
  TaskGroup tasks(co_await asio::this_coro::executor);
  tasks.spawn("watcher", watcher.run());
  tasks.spawn("dumps", answer_dumps(maps, watcher));
  tasks.spawn("synced", say_when_synced(maps, world.clock));
  asio::signal_set stop(co_await asio::this_coro::executor, SIGTERM);
  (void)co_await stop.async_wait(kTuple);
  tasks.stop();
  co_return co_await tasks.join(world.clock, world.clock.monotonic() + std::chrono::seconds{5}) ? 0
                                                                                                : 1;
}

}  // namespace amdahl::probe
