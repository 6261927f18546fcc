// Several who write to one prefix at once.
#include <catch2/catch.hpp>

#include "checkpoint/engine/test_state.hpp"
#include "tests/checkpoint/faulty_store.hpp"
#include "tests/checkpoint/prefix_check.hpp"
#include "tests/checkpoint/runs.hpp"

namespace amdahl::checkpoint::test {
namespace {

// At call `at` of one attempt, another one does all it has to do. Nobody may claim to be alone.
bool play(int at, const std::vector<std::int64_t>& theirs) {
  MemoryStore store;
  store.replace(kForeignName, "mine");
  REQUIRE(run_engine(store, {.attempt = "a", .steps = {10}}).size() == 1);
  std::vector<std::int64_t> committed;
  FaultyStore meddled(store, Fault::kMeddled, at, [&] {
    committed = run_engine(store, {.attempt = "c", .steps = theirs, .alone = false});
    CHECK(look_at(store, 1).wrong == "");
  });
  const auto ours = run_engine(meddled, {.attempt = "b", .steps = {20, 30}, .alone = false});
  if (!meddled.hit()) return false;
  const PrefixSeen seen = look_at(store, 1);
  CHECK(seen.wrong == "");
  // Whoever was told that it had committed has: the newest is no older.
  for (const std::int64_t step : ours) CHECK(seen.newest >= step);
  for (const std::int64_t step : committed) CHECK(seen.newest >= step);
  CHECK((!ours.empty() || !committed.empty()));
  // Nobody else is alive now, and a last attempt says so.
  CHECK(run_engine(store, {.attempt = "d", .steps = {40}}).size() == 1);
  CHECK(look_at(store, 1).newest == 40);
  CHECK(unneeded_objects(store) == 0);
  CHECK(store.objects().at(std::string(kForeignName)) == "mine");
  return true;
}

TEST_CASE("Two attempts at once, one inside of any call of the other, lose nothing") {
  const std::vector<std::vector<std::int64_t>> theirs = {{20, 30}, {25}, {35}};
  for (const auto& steps : theirs) {
    int at = 1;
    for (;; ++at) {
      INFO("the other saves " << steps.front() << " at call " << at);
      if (!play(at, steps)) break;
    }
    CHECK(at > 30);
  }
}

TEST_CASE("Two committers of one save agree") {
  MemoryStore store;
  REQUIRE(run_ranks(store, {.attempt = "a", .steps = {10}, .world_size = 2}).size() == 1);
  ManualClock clock;
  SteppingWaiter waiter(clock);
  const CommitJob job{
      .job_uid = "uid-1", .save = {.step = 10, .save_id = save_id("a", 10, 0)}, .world_size = 2};
  clock.advance(std::chrono::hours(5));
  Committer second(store, clock, waiter);
  const auto again = second.commit(job, {.deadline = clock.monotonic() + std::chrono::seconds(9)});
  REQUIRE(again.has_value());
  CHECK(again->manifest.sha256 == fetch_manifest(store, 10, {})->sha256);
}

TEST_CASE("A committer of a save that lost is told who won") {
  MemoryStore store;
  REQUIRE(run_engine(store, {.attempt = "a", .steps = {10}}).size() == 1);
  RealClock clock;
  RealWaiter waiter;
  auto engine = Engine::open(store, clock, waiter, small_options(identity("b")));
  const auto failed = save_step(**engine, 10);
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().code == Errc::kConflict);
  CHECK(failed.error().context.find(save_id("a", 10, 0)) != std::string::npos);
}

TEST_CASE("Objects that vanish before the commit are missed by the committer") {
  const int calls = [&] {
    MemoryStore other;
    FaultyStore counted(other, Fault::kNone, 1 << 30);
    CHECK(run_ranks(counted, {.attempt = "a", .steps = {10}, .world_size = 2}).size() == 1);
    return counted.calls();
  }();
  int refused = 0;
  for (int at = 1; at <= calls; ++at) {
    MemoryStore victim;
    FaultyStore thief(victim, Fault::kMeddled, at, [&] {
      const auto listed = list_all(victim, "data/", {});
      if (!listed->empty()) (void)victim.remove(listed->front().name, {});
    });
    const auto committed = run_ranks(thief, {.attempt = "a", .steps = {10}, .world_size = 2});
    const auto steps = fetch_steps(victim, {});
    if (committed.empty()) ++refused;
    CHECK(committed.size() == steps->size());
  }
  CHECK(refused > 5);
}

}  // namespace
}  // namespace amdahl::checkpoint::test
