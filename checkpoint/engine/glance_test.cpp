#include "checkpoint/engine/glance.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "checkpoint/engine/catalog.hpp"
#include "checkpoint/engine/test_state.hpp"
#include "checkpoint/store/memory_store.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;

TEST_CASE("ReadBudget: a share waits for what others hold, and for no longer than it may", "[A4]") {
  ManualClock clock;
  ReadBudget all(clock, 10);
  ReadBudget one(clock, 8, &all);
  ReadBudget other(clock, 8, &all);
  auto first = one.take(8, {});
  REQUIRE(first);
  CHECK(other.take(9, {}).error().code == Errc::kThrottled);
  CHECK(other.take(3, {.deadline = clock.monotonic()}).error().code == Errc::kTimeout);
  REQUIRE(other.take(2, {}));  // and given back at once
  std::optional<Result<ReadBudget::Hold>> second;
  {
    const std::jthread waits([&] { second.emplace(other.take(8, {})); });
    const ReadBudget::Hold released = *std::move(first);
  }
  REQUIRE(second->has_value());
  CHECK(all.peak() == 10);
}

TEST_CASE("glance_at: what the records of a sound checkpoint say, as the loader reads them",
          "[A4]") {
  MemoryStore store;
  RealClock clock;
  RealWaiter waiter;
  const auto engine = Engine::open(store, clock, waiter, test::small_options(test::identity("a")));
  REQUIRE(engine.has_value());
  for (const std::int64_t step : {3, 5}) REQUIRE(test::save_step(**engine, step));
  ReadBudget budget(clock, kMiB);
  const auto glance = glance_at(store, 5, {.budget = budget, .names_bytes_max = kMiB}, {});
  REQUIRE(glance);
  const auto chain = fetch_chain(store, 5, {});
  REQUIRE(chain);
  std::vector<StoredObject> objects;
  for (const Checkpoint& one : *chain)
    for (const ReadReceipt& receipt : one.receipts)
      for (const ObjectRecord& object : receipt.receipt.objects)
        objects.push_back({.name = object.name, .bytes = object.bytes});
  std::ranges::sort(objects, {}, &StoredObject::name);
  CHECK(glance->objects == objects);
  CHECK_FALSE(objects.empty());
  CHECK(glance->sha256 == chain->front().manifest.sha256);
  CHECK(glance->bytes == chain->front().manifest.manifest.bytes);
  const auto few = glance_at(store, 5, {.budget = budget, .names_bytes_max = 10}, {});
  REQUIRE(few);
  CHECK_FALSE(few->all_named);
  CHECK(few->objects.empty());
}

TEST_CASE("newest_steps: of a long listing only the newest are kept", "[A4]") {
  MemoryStore store;
  for (std::int64_t step = 0; step < 2'500; ++step) store.replace(manifest_name(step), "x");
  store.replace("manifests/other", "x");
  const auto steps = newest_steps(store, 3, {});
  REQUIRE(steps);
  CHECK(*steps == std::vector<std::int64_t>{2'499, 2'498, 2'497});
}

}  // namespace
}  // namespace amdahl::checkpoint
