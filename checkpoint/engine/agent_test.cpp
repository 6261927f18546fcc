#include "checkpoint/engine/agent.hpp"

#include <catch2/catch.hpp>

#include "checkpoint/engine/test_agent.hpp"

namespace amdahl::checkpoint {
namespace {

using test::check_ok;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using test::AgentWorld;
using test::identity;
using test::save_step;
using test::small_options;

void check_step(Store& store, std::int64_t step, std::int32_t world_size = 1) {
  const auto newest = fetch_newest(store, {});
  REQUIRE(newest.has_value());
  REQUIRE_FALSE(newest->chain.empty());
  CHECK(newest->chain[0].step() == step);
  const auto tensors = test::load_all(store, newest->chain);
  REQUIRE(tensors.has_value());
  CHECK(*tensors == test::expected_at(step, world_size));
}

Result<void> only_save(Engine& engine, std::int64_t step) {
  const RankIdentity& who = engine.options().who;
  const auto state = test::state_at(step, who.rank, who.world_size);
  const auto pointers = state.pointers();
  return engine.save(test::request_of(state, step, pointers));
}

AgentKind answer_of(const AgentSocket& socket) {
  REQUIRE(socket.wait(30s).has_value());
  const auto packet = socket.receive();
  REQUIRE((packet.has_value() && packet->has_value()));
  return (*packet)->message.kind;
}

TEST_CASE("Agent writes and commits what a trainer hands over") {
  AgentWorld world;
  const auto engine = world.engine(small_options(identity("a")));
  for (const std::int64_t step : {10, 20, 30, 40}) {
    check_ok(save_step(*engine, step));
    check_step(world.store, step);
  }
  const EngineStatus status = engine->status();
  CHECK(status.by_agent);
  CHECK(status.commits == 4);
  CHECK(*status.committed_step == 40);
  CHECK(status.committed_sha256.size() == 64);
  CHECK(status.queued_bytes == 0);
  CHECK(status.pause_latency.has_value());
  CHECK(status.last.uploaded_bytes < status.committed_bytes);  // the frozen tensor is a blob
  REQUIRE(world.done().size() == 4);
  CHECK(world.done()[3].committed);
  CHECK(world.done()[3].status.committed_step == 40);
  CHECK(world.complaints().empty());
}

TEST_CASE("Agent commits what was handed over when the trainer is gone, in the middle of a write") {
  AgentWorld world;
  world.gate.set(false);
  EngineOptions options = small_options(identity("a"));
  options.arena.bytes = 1 << 20;
  auto engine = world.engine(options);
  check_ok(only_save(*engine, 1));
  check_ok(only_save(*engine, 2));
  world.gate.until_somebody_waits();
  engine.reset();  // its socket and its arena with it
  CHECK(world.done().empty());
  world.gate.set(true);
  world.finish();
  check_step(world.store, 2);
  CHECK(fetch_steps(world.store, {})->size() == 2);
}

TEST_CASE("Agent writes for two ranks, and finishes both when both are gone") {
  AgentWorld world;
  auto first = world.engine(small_options(identity("a", 0, 2)));
  auto second = world.engine(small_options(identity("a", 1, 2)));
  check_ok(only_save(*first, 5));
  check_ok(only_save(*second, 5));
  check_ok(first->wait(30s));
  check_ok(second->wait(30s));
  check_step(world.store, 5, 2);
  check_ok(only_save(*first, 6));
  check_ok(only_save(*second, 6));
  second.reset();
  first.reset();
  world.finish();
  check_step(world.store, 6, 2);
}

TEST_CASE("Agent gives a checkpoint up whose other ranks never handed theirs over") {
  AgentWorld world(100ms);
  auto engine = world.engine(small_options(identity("a", 0, 2)));
  check_ok(only_save(*engine, 5));
  engine.reset();
  world.finish();
  CHECK(fetch_steps(world.store, {})->empty());
  REQUIRE(world.done().size() == 1);
  CHECK_FALSE(world.done()[0].committed);
  CHECK(world.done()[0].status.failures == 1);
}

TEST_CASE("Agent finishes those who have gone before it serves who replaces them") {
  AgentWorld world;
  world.gate.set(false);
  auto engine = world.engine(small_options(identity("a")));
  check_ok(only_save(*engine, 7));
  world.gate.until_somebody_waits();
  engine.reset();
  auto next = world.engine(small_options(identity("b")));
  check_ok(only_save(*next, 8));
  const AgentSocket reader = *AgentSocket::connect(world.path());
  REQUIRE(reader.send({.kind = AgentKind::kHello, .protocol = kAgentProtocol}).has_value());
  REQUIRE(answer_of(reader) == AgentKind::kWelcome);
  REQUIRE(reader.send({.kind = AgentKind::kSettle}).has_value());
  CHECK(AgentLink::connect(world.path(), nullptr).has_value());  // the question was read before
  CHECK_FALSE(reader.receive()->has_value());
  CHECK(fetch_steps(world.store, {})->empty());
  world.gate.set(true);
  CHECK(answer_of(reader) == AgentKind::kSettled);
  CHECK_FALSE(fetch_steps(world.store, {})->empty());
  check_ok(next->wait(30s));
  check_step(world.store, 8);
  CHECK(*fetch_steps(world.store, {}) == std::vector<std::int64_t>{8, 7});
}

TEST_CASE("Agent keeps a delta's base until it is replaced, and the trainer its slot") {
  AgentWorld world;
  EngineOptions options = small_options(identity("a"));
  options.deltas = options.planes = true;
  const auto engine = world.engine(options);
  for (std::int64_t step = 1; step <= 6; ++step) {
    check_ok(save_step(*engine, step));
    check_step(world.store, step);
  }
  CHECK(fetch_chain(world.store, 6, {})->size() > 1);
}

TEST_CASE("Agent lets a trainer wait for memory, and answers when it is free") {
  AgentWorld world;
  EngineOptions options = small_options(identity("a"));
  options.snapshots_max = 1;
  const auto engine = world.engine(options);
  world.gate.set(false);
  check_ok(only_save(*engine, 1));
  world.gate.until_somebody_waits();
  CHECK(only_save(*engine, 2).error().code == Errc::kThrottled);
  world.gate.set(true);
  check_ok(engine->wait(30s));
  const auto state = test::state_at(3);
  const auto pointers = state.pointers();
  auto request = test::request_of(state, 3, pointers);
  request.patience = 30s;
  check_ok(engine->save(request));
  check_ok(engine->wait(30s));
  check_step(world.store, 3);
}

TEST_CASE("Agent gets a larger arena when the state has grown") {
  AgentWorld world;
  const auto engine = world.engine(small_options(identity("a")));
  check_ok(save_step(*engine, 1));
  test::TestState state = test::state_at(2);
  state.add({.name = "more", .dtype = Dtype::kU8, .shape = {1 << 20}}, std::string(1 << 20, 'm'));
  const auto pointers = state.pointers();
  check_ok(engine->save(test::request_of(state, 2, pointers)));
  check_ok(engine->wait(30s));
  auto expected = test::expected_at(2);
  expected["more"] = state.bytes.back();
  CHECK(*test::load_all(world.store, *fetch_chain(world.store, 2, {})) == expected);
}

TEST_CASE("Agent says why it refuses a trainer") {
  AgentWorld world;
  auto options = AgentWorld::hello(small_options(identity("a")));
  options["uri"] = "forbidden";
  const auto refused = AgentLink::connect(world.path(), options);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Errc::kUnauthorized);
  options["uri"] = "memory";
  options["rank"] = 3;
  CHECK(AgentLink::connect(world.path(), options).error().code == Errc::kInvalid);
  CHECK(AgentLink::connect(world.path() + "x", options).error().code == Errc::kIo);
}

}  // namespace
}  // namespace amdahl::checkpoint
