#include "checkpoint/engine/engine.hpp"

#include <catch2/catch.hpp>

#include "checkpoint/engine/scrub.hpp"
#include "checkpoint/engine/test_state.hpp"
#include "checkpoint/format/document.hpp"
#include "checkpoint/store/memory_store.hpp"

namespace amdahl::checkpoint {
namespace {

using test::identity;
using test::save_step;
using test::small_options;

struct World {
  MemoryStore store = {};
  RealClock clock = {};
  RealWaiter waiter = {};
  std::unique_ptr<Engine> open(EngineOptions options) {
    auto engine = Engine::open(store, clock, waiter, std::move(options));
    INFO((engine ? "" : engine.error().context));
    REQUIRE(engine.has_value());
    return *std::move(engine);
  }
  std::map<std::string, std::string> newest(std::int64_t step) {
    const auto found = fetch_newest(store, {});
    INFO((found ? "" : found.error().context));
    REQUIRE(found.has_value());
    REQUIRE_FALSE(found->chain.empty());
    CHECK(found->chain[0].step() == step);
    auto tensors = test::load_all(store, found->chain);
    INFO((tensors ? "" : tensors.error().context));
    REQUIRE(tensors.has_value());
    return *std::move(tensors);
  }
};

void check_ok(const Result<void>& result) {
  INFO((result ? "" : result.error().context));
  CHECK(result.has_value());
}

TEST_CASE("Engine saves, commits and loads bit for bit") {
  World world;
  const auto engine = world.open(small_options(identity("a")));
  for (const std::int64_t step : {10, 20}) {
    check_ok(save_step(*engine, step));
    CHECK(world.newest(step) == test::expected_at(step));
  }
  const auto chain = fetch_chain(world.store, 20, {});
  const auto scrubbed = verify_objects(world.store, (*chain)[0], 2, {});
  REQUIRE(scrubbed.has_value());
  CHECK(scrubbed->bad.empty());
  CHECK(scrubbed->objects > 3);
  CHECK((*chain)[0].receipts[0].receipt.state["step"] == 20);
  CHECK(engine->status().commits == 2);
  CHECK(*engine->status().committed_step == 20);
}

TEST_CASE("Engine's snapshot is of the moment of the call") {
  World world;
  const auto engine = world.open(small_options(identity("a")));
  test::TestState state = test::state_at(7);
  const auto pointers = state.pointers();
  check_ok(engine->save(test::request_of(state, 7, pointers)));
  for (std::string& bytes : state.bytes) std::ranges::fill(bytes, 'x');
  check_ok(engine->settle(std::chrono::minutes(1)));
  CHECK(world.newest(7) == test::expected_at(7));
}

TEST_CASE("Engine keeps what its policy says, and leaves foreign files alone") {
  World world;
  world.store.replace("data/notes.txt", "mine");
  EngineOptions options = small_options(identity("a"));
  options.retention = {.keep_last = 2, .keep_every_steps = 30};
  const auto engine = world.open(std::move(options));
  for (std::int64_t step = 10; step <= 60; step += 10) check_ok(save_step(*engine, step));
  const auto steps = fetch_steps(world.store, {});
  CHECK(*steps == std::vector<std::int64_t>{60, 50, 30});
  CHECK(world.store.objects().at("data/notes.txt") == "mine");
  CHECK(engine->status().checkpoints_kept == 3);
  for (const auto& [name, bytes] : world.store.objects())
    if (const auto parsed = parse_name(name); parsed && parsed->step > 0)
      CHECK((parsed->step == 30 || parsed->step == 50 || parsed->step == 60));
}

TEST_CASE("Engine saves a step again whose checkpoint is damaged, and no other") {
  const auto damaged = [](World& world, std::string_view what) {
    for (const auto& [name, bytes] : world.store.objects()) {
      if (name.find("00020") == name.npos || !name.starts_with(what)) continue;
      std::string other = bytes;
      other[other.size() / 2] ^= 1;
      world.store.replace(name, other);
      return;
    }
    FAIL("nothing to damage: " << what);
  };
  for (const std::string what : {"manifests/", "receipts/", "data/"}) {
    INFO(what);
    World world;
    for (const std::int64_t step : {10, 20})
      check_ok(save_step(*world.open(small_options(identity("a" + std::to_string(step)))), step));
    const auto before = world.store.objects();
    const auto refused = save_step(*world.open(small_options(identity("b"))), 20);
    CHECK(refused.error().code == Errc::kConflict);
    CHECK(world.store.objects().at(manifest_name(20)) == before.at(manifest_name(20)));
    damaged(world, what);
    const auto again = world.open(small_options(identity("c")));
    check_ok(save_step(*again, 20));
    CHECK(world.newest(20) == test::expected_at(20));
    check_ok(save_step(*again, 30));
    CHECK(world.newest(30) == test::expected_at(30));
  }
}

TEST_CASE("Engine does not replace what a newer version may have written") {
  World world;
  const std::string text = seal_document("{\"format\":99}");
  world.store.replace(manifest_name(20), text);
  CHECK_FALSE(save_step(*world.open(small_options(identity("a"))), 20).has_value());
  CHECK(world.store.objects().at(manifest_name(20)) == text);
}

TEST_CASE("Engine stores frozen tensors once, also after a restart") {
  World world;
  const auto blobs = [&] { return list_all(world.store, "blobs/", {})->size(); };
  {
    const auto engine = world.open(small_options(identity("a")));
    for (const std::int64_t step : {1, 2, 3}) check_ok(save_step(*engine, step));
    CHECK(blobs() == 1);
    CHECK(engine->status().last.uploaded_bytes < engine->status().committed_bytes);
  }
  const auto engine = world.open(small_options(identity("b")));
  check_ok(save_step(*engine, 4));
  CHECK(blobs() == 1);
  // It changes after all, although it was marked: its new bytes are what is saved.
  test::TestState state = test::state_at(5);
  state.bytes[3][17] = static_cast<char>(state.bytes[3][17] ^ 1);
  const auto pointers = state.pointers();
  check_ok(engine->save(test::request_of(state, 5, pointers)));
  check_ok(engine->settle(std::chrono::minutes(1)));
  CHECK(world.newest(5).at("rank0.frozen") == state.bytes[3]);
  CHECK(blobs() == 2);
}

TEST_CASE("Engine of several ranks commits what all of them wrote") {
  World world;
  std::vector<std::unique_ptr<Engine>> ranks;
  for (std::int32_t rank = 0; rank < 3; ++rank)
    ranks.push_back(world.open(small_options(identity("a", rank, 3))));
  for (const std::int64_t step : {5, 6}) {
    for (auto& engine : ranks) {
      const auto state = test::state_at(step, engine->options().who.rank, 3);
      const auto pointers = state.pointers();
      check_ok(engine->save(test::request_of(state, step, pointers)));
    }
    for (auto& engine : ranks) check_ok(engine->settle(std::chrono::minutes(1)));
    CHECK(world.newest(step) == test::expected_at(step, 3));
  }
}

TEST_CASE("Engine without a rank's receipt does not commit, and names the rank") {
  World world;
  EngineOptions options = small_options(identity("a", 0, 2));
  options.save_deadline = std::chrono::milliseconds(200);
  const auto engine = world.open(std::move(options));
  const auto failed = save_step(*engine, 1);
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().code == Errc::kTimeout);
  CHECK(failed.error().context.find("no receipt of rank 1 of 2") != std::string::npos);
  CHECK(fetch_steps(world.store, {})->empty());
  CHECK(engine->status().failures == 1);
}

TEST_CASE("Engine refuses a prefix of another job, and touches nothing there") {
  World world;
  RankIdentity other = identity("a");
  other.job_uid = "uid-2";
  check_ok(save_step(*world.open(small_options(other)), 1));
  const auto before = world.store.objects();
  const auto engine = world.open(small_options(identity("b")));
  const auto failed = save_step(*engine, 2);
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().code == Errc::kForbidden);
  CHECK(world.store.objects() == before);
}

TEST_CASE("Engine refuses a state that does not fit, with the bytes it needs") {
  World world;
  EngineOptions options = small_options(identity("a"));
  options.arena.bytes = 2 * kArenaAlignment;
  const auto engine = world.open(std::move(options));
  const auto failed = save_step(*engine, 1);
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().code == Errc::kTooLarge);
  const auto plan = plan_snapshot(test::state_at(1).specs, engine->options().plan);
  CHECK(failed.error().context.find(std::to_string((*plan)->memory_bytes)) != std::string::npos);
}

TEST_CASE("Engine saves a step once") {
  World world;
  const auto engine = world.open(small_options(identity("a")));
  check_ok(save_step(*engine, 5));
  const auto before = world.store.objects();
  CHECK(save_step(*engine, 5).error().code == Errc::kInvalid);
  CHECK(save_step(*engine, 4).error().code == Errc::kInvalid);
  CHECK(world.store.objects() == before);
  check_ok(save_step(*engine, 6));
}

TEST_CASE("Engine finds tensors that do not change, and that change after all") {
  World world;
  EngineOptions options = small_options(identity("a"));
  options.plan = {};  // chunks of 1 MiB
  const auto engine = world.open(std::move(options));
  std::string large(20U << 20U, 'a');
  std::string small = "0";
  const std::vector<TensorSpec> specs = {
      {.name = "large", .dtype = Dtype::kU8, .shape = {static_cast<std::int64_t>(large.size())}},
      {.name = "small", .dtype = Dtype::kU8, .shape = {1}}};
  const std::vector<const std::byte*> pointers = {bytes_of(large).data(), bytes_of(small).data()};
  std::vector<std::int64_t> uploaded;
  for (std::int64_t step = 1; step <= 7; ++step) {
    if (step == 6) large[5'000'000] = 'b';
    small[0] = static_cast<char>('0' + step);
    check_ok(engine->save({.step = step, .specs = specs, .tensors = pointers}));
    check_ok(engine->settle(std::chrono::minutes(1)));
    uploaded.push_back(engine->status().last.uploaded_bytes);
    const auto loaded = test::load_all(world.store, *fetch_chain(world.store, step, {}));
    CHECK((loaded->at("large") == large && loaded->at("small") == small));
  }
  // Three times seen, then once as a blob, then not at all, until it moves.
  for (const int whole : {0, 1, 2, 3, 5, 6})
    CHECK(uploaded[static_cast<std::size_t>(whole)] > 1'000'000);
  CHECK(uploaded[4] < 10'000);
}

TEST_CASE("Engine checks its options") {
  World world;
  const auto code = [&](EngineOptions options) {
    return Engine::open(world.store, world.clock, world.waiter, std::move(options)).error().code;
  };
  CHECK(code({}) == Errc::kInvalid);
  CHECK(code(small_options(identity(""))) == Errc::kInvalid);
  CHECK(code(small_options(identity("a", 2, 2))) == Errc::kInvalid);
  EngineOptions deltas = small_options(identity("a", 0, 2));
  deltas.deltas = true;
  CHECK(code(deltas) == Errc::kInvalid);
}

TEST_CASE("Engine's deltas and planes load bit for bit, and their chain is bounded") {
  World world;
  EngineOptions options = small_options(identity("a"));
  options.planes = options.deltas = true;
  options.full_every = 3;
  options.retention.keep_last = 1;
  const auto engine = world.open(std::move(options));
  std::vector<std::size_t> chains;
  for (std::int64_t step = 1; step <= 7; ++step) {
    check_ok(save_step(*engine, step));
    CHECK(world.newest(step) == test::expected_at(step));
    chains.push_back(fetch_chain(world.store, step, {})->size());
  }
  CHECK(chains == std::vector<std::size_t>{1, 2, 3, 1, 2, 3, 1});
  CHECK(fetch_steps(world.store, {})->size() == 1);  // what step 7 stands on is itself
  const auto chain = fetch_chain(world.store, 7, {});
  const auto& tensors = (*chain)[0].receipts[0].receipt.tensors;
  CHECK(std::ranges::count(tensors, Encoding::kBf16Planes, &TensorRecord::encoding) == 1);
}

TEST_CASE("Engine skips a save while the arena is busy, or waits, and counts both") {
  World world;
  EngineOptions options = small_options(identity("a", 1, 2));  // waits for a manifest
  options.snapshots_max = 1;
  options.save_deadline = std::chrono::milliseconds(300);
  const auto engine = world.open(std::move(options));
  const auto state = test::state_at(1, 1, 2);
  const auto pointers = state.pointers();
  auto request = test::request_of(state, 1, pointers);
  check_ok(engine->save(request));
  request.step = 2;
  CHECK(engine->save(request).error().code == Errc::kThrottled);
  request.patience = std::chrono::minutes(1);
  check_ok(engine->save(request));
  CHECK(engine->status().skipped == 1);
  CHECK(engine->status().waited == 1);
}

}  // namespace
}  // namespace amdahl::checkpoint
