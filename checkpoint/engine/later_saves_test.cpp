// Ranks that do not save the same steps: what cannot be completed is given up early, and nothing
// else is.
#include "checkpoint/engine/later_saves.hpp"

#include <catch2/catch.hpp>
#include <functional>

#include "checkpoint/engine/snapshot_writer.hpp"
#include "checkpoint/engine/test_state.hpp"
#include "checkpoint/store/memory_store.hpp"

namespace amdahl::checkpoint {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""min;
using test::identity;

// In whose listings of all receipts something can happen.
class ListedStore final : public Store {
 public:
  explicit ListedStore(Store& store) : store_(store) {}
  Result<void> create(std::string_view name, std::span<const Bytes> pieces,
                      const StoreCall& call) override {
    return store_.create(name, pieces, call);
  }
  Result<std::int64_t> size(std::string_view name, const StoreCall& call) override {
    return store_.size(name, call);
  }
  Result<void> read(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                    const StoreCall& call) override {
    return store_.read(name, begin, into, call);
  }
  Result<ListPage> list(std::string_view prefix, std::string_view next,
                        const StoreCall& call) override {
    if (prefix != "receipts/") return store_.list(prefix, next, call);
    ++looks;
    if (fails) return fail(Errc::kUnavailable, "made to fail");
    if (before) std::exchange(before, {})();
    auto page = store_.list(prefix, next, call);
    std::erase_if(page->objects, [&](const StoredObject& it) { return it.name == unseen; });
    return page;
  }
  Result<void> remove(std::string_view name, const StoreCall& call) override {
    return store_.remove(name, call);
  }
  Result<std::int64_t> remove_leftovers(WallTime time, const StoreCall& call) override {
    return store_.remove_leftovers(time, call);
  }
  std::string describe() const override { return store_.describe(); }

  int looks = 0;
  bool fails = false;
  std::string unseen = {};            // left out of listings
  std::function<void()> before = {};  // the first one

 private:
  Store& store_;
};

// Time passes when somebody waits, and so do things, once.
class EventfulWaiter final : public Waiter {
 public:
  explicit EventfulWaiter(ManualClock& clock) : clock_(clock) {}
  bool wait(std::chrono::nanoseconds time, const std::stop_token& stop) override {
    clock_.advance(time);
    if (then) std::exchange(then, {})();
    return !stop.stop_requested();
  }
  std::function<void()> then = {};

 private:
  ManualClock& clock_;
};

// Two ranks of one attempt. Rank `ours` is a writer; the other does what a test says.
struct World {
  explicit World(std::int32_t ours)
      : options(test::small_options(identity("a", ours, 2))),
        writer(listed, clock, waiter, options) {}

  struct Taken {
    std::vector<std::byte> memory = {};
    TakenSnapshot snapshot = {};
  };
  static Taken take(std::int64_t step, std::int32_t rank) {
    const auto state = test::state_at(step, rank, 2);
    const auto plan = *plan_snapshot(state.specs, test::small_options(identity("")).plan);
    Taken taken{.memory = std::vector<std::byte>(static_cast<std::size_t>(plan->memory_bytes))};
    const auto pointers = state.pointers();
    const auto sums = copy_tensors({.plan = *plan, .tensors = pointers, .memory = taken.memory});
    taken.snapshot.record = record_of(*plan, sums, 0);
    taken.snapshot.record.step = step;
    taken.snapshot.bytes = bytes_in(taken.memory, taken.snapshot.record);
    return taken;
  }
  Result<NamedBlobs> write(std::int64_t step) {
    began = clock.monotonic();
    const Taken taken = take(step, options.who.rank);
    const StoreCall call{.deadline = clock.monotonic() + 30min};
    auto written = writer.write(taken.snapshot, call);
    writer.clean_up(call);
    return written;
  }
  void other_writes(std::int64_t step, const std::string& attempt = "a") {
    const RankIdentity who = identity(attempt, 1 - options.who.rank, 2);
    const Taken taken = take(step, who.rank);
    Saver saver(store, clock, who, 1);
    REQUIRE(saver
                .save({.record = taken.snapshot.record,
                       .bytes = taken.snapshot.bytes,
                       .save_id = save_id(attempt, step, 0)},
                      {})
                .has_value());
  }
  void other_commits(std::int64_t step) {
    Committer committer(store, clock, waiter);
    REQUIRE(committer
                .commit({.job_uid = options.who.job_uid,
                         .save = {.step = step, .save_id = save_id("a", step, 0)},
                         .world_size = 2},
                        {})
                .has_value());
  }
  std::string receipt_of_other(std::int64_t step) const {
    return write_name({.kind = ObjectKind::kReceipt,
                       .step = step,
                       .save_id = save_id("a", step, 0),
                       .rank = 1 - options.who.rank});
  }
  void check_given_up(const Result<NamedBlobs>& done, std::string_view why) const {
    REQUIRE_FALSE(done.has_value());
    CHECK(done.error().code == Errc::kConflict);
    INFO(done.error().context);
    CHECK(done.error().context.find(why) != std::string::npos);
    CHECK(clock.monotonic() - began < 5s);
  }
  void check_steps(const std::vector<std::int64_t>& steps) {
    CHECK(*fetch_steps(store, {}) == steps);
    for (const std::int64_t step : steps)
      CHECK(*test::load_all(store, *fetch_chain(store, step, {})) == test::expected_at(step, 2));
  }
  std::size_t objects_of(std::int64_t step) {
    std::size_t count = 0;
    for (const auto& [name, content] : store.objects())
      if (const auto parsed = parse_name(name); parsed && parsed->step == step) ++count;
    return count;
  }

  MemoryStore store = {};
  ListedStore listed = ListedStore(store);
  ManualClock clock = ManualClock();
  EventfulWaiter waiter = EventfulWaiter(clock);
  EngineOptions options;
  SnapshotWriter writer;
  Monotonic began = {};
};

TEST_CASE("Rank 0 gives up a step that another rank skipped, and commits the next") {
  World world(0);
  world.waiter.then = [&] { world.other_writes(30); };
  world.check_given_up(world.write(20), "rank 1 has gone on to step 30 without writing it");
  CHECK(world.objects_of(20) > 0);
  REQUIRE(world.write(30).has_value());
  world.check_steps({30});
  CHECK(world.objects_of(20) == 0);  // collected with the commit
}

TEST_CASE("Rank 0 gives up a step that another rank failed to write, and commits the next") {
  World world(0);
  world.waiter.then = [&] {
    world.other_writes(20);
    REQUIRE(world.store.remove(world.receipt_of_other(20), {}).has_value());  // all but this
    world.other_writes(30);
  };
  world.check_given_up(world.write(20), "rank 1 has gone on to step 30 without writing it");
  REQUIRE(world.write(30).has_value());
  world.check_steps({30});
  CHECK(world.objects_of(20) == 0);
}

TEST_CASE("A rank gives up a step that rank 0 skipped, or did not commit") {
  const bool writes = GENERATE(false, true);
  World world(1);
  world.waiter.then = [&] {
    if (writes) world.other_writes(20);
    world.other_writes(30);
  };
  world.check_given_up(world.write(20), writes
                                            ? "rank 0 has gone on to step 30 without committing it"
                                            : "rank 0 has gone on to step 30 without writing it");
  world.waiter.then = [&] { world.other_commits(30); };
  REQUIRE(world.write(30).has_value());
  world.check_steps({30});
}

TEST_CASE("A rank takes a step for committed whose rank 0 has gone on since it looked") {
  World world(1);
  world.listed.before = [&] {
    world.other_writes(20);
    world.other_commits(20);
    world.other_writes(30);
  };
  REQUIRE(world.write(20).has_value());
  world.check_steps({20});
}

TEST_CASE("Rank 0 gives nothing up for a receipt that a listing has missed") {
  World world(0);
  world.listed.unseen = world.receipt_of_other(20);
  world.listed.before = [&] {
    world.other_writes(20);
    world.other_writes(30);
  };
  REQUIRE(world.write(20).has_value());
  CHECK(world.listed.looks == 2);  // the first, and the collector's
  world.check_steps({20});
}

TEST_CASE("A save is awaited to its deadline, with few looks, while nobody has gone on") {
  const bool fails = GENERATE(false, true);
  World world(0);
  world.listed.fails = fails;
  world.other_writes(10);
  world.other_writes(20, "z");
  world.other_writes(30, "z");  // of another attempt
  if (fails) world.waiter.then = [&] { world.other_writes(30); };
  const auto done = world.write(20);
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code == Errc::kTimeout);
  CHECK(world.clock.monotonic() - world.began > 29min);
  CHECK(world.listed.looks > 50);
  CHECK(world.listed.looks < 30min / kLookPauseMax + 6);
}

TEST_CASE("Rank 0 commits a step whose receipts come late") {
  World world(0);
  world.waiter.then = [&] {
    world.clock.advance(20min);
    world.other_writes(20);
    world.other_writes(30);
  };
  REQUIRE(world.write(20).has_value());
  world.check_steps({20});
}

}  // namespace
}  // namespace amdahl::checkpoint
