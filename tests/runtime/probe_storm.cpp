// Many tasks count up one number in one object, each by reading it, adding one and writing it back.
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/task_group.hpp"
#include "operator/kube/types.hpp"
#include "tests/runtime/probe.hpp"

namespace amdahl::probe {
namespace {

constexpr std::uint32_t kTriesMax = 10'000;

struct Count {
  std::uint32_t conflicts = 0;
  std::uint32_t failures = 0;
};

Task<Result<void>> add_one(kube::Client& client, kube::ObjectKey key) {
  CO_TRY(auto get, kube::get_request(kube::ConfigMap::resource(), key));
  CO_TRY(const kube::Response seen, co_await client.send(std::move(get)));
  Json map = Json::parse(seen.body, nullptr, false);
  map["data"]["count"] = std::to_string(std::stoul(map["data"]["count"].get<std::string>()) + 1);
  CO_TRY(auto update, kube::update_request(kube::ConfigMap::resource(), key, map.dump()));
  CO_TRY(co_await client.send(std::move(update)));
  co_return Result<void>{};
}

Task<void> count_up(kube::Client& client, kube::ObjectKey key, std::uint32_t rounds, Count& count) {
  std::uint32_t tries = 0;
  while (rounds > 0 && ++tries < kTriesMax) {
    const auto added = co_await add_one(client, key);
    if (added) --rounds;
    // The answer to a conflict is a new decision from a new read, never the old body again (W4).
    else if (added.error().code == Errc::kConflict)
      ++count.conflicts;
    else if (++count.failures > kTriesMax)
      co_return;
  }
}

}  // namespace

Task<int> storm(World& world) {
  kube::Client& client = world.session.client();
  const kube::ObjectKey key{.ns = world.options.ns, .name = "storm"};
  const Json map{{"apiVersion", "v1"},
                 {"kind", "ConfigMap"},
                 {"metadata", {{"name", key.name}}},
                 {"data", {{"count", "0"}}}};
  auto create = kube::create_request(kube::ConfigMap::resource(), key.ns, key.name, map.dump());
  AMDAHL_CHECK(create.has_value());
  const auto created = co_await client.send(*std::move(create));
  if (!created) {
    say({{"ev", "error"}, {"text", created.error().context}});
    co_return 1;
  }
  Count count;
  TaskGroup tasks(co_await boost::asio::this_coro::executor);
  for (std::uint32_t i = 0; i < world.options.workers; ++i)
    tasks.spawn("counter", count_up(client, key, world.options.rounds, count));
  const bool joined =
      co_await tasks.join(world.clock, world.clock.monotonic() + std::chrono::minutes{2});
  say({{"ev", "storm"}, {"conflicts", count.conflicts}, {"failures", count.failures}});
  co_return joined ? 0 : 1;
}

}  // namespace amdahl::probe
