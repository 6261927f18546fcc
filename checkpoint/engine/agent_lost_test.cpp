// A trainer whose agent dies, hangs up or talks nonsense: nothing that was saved is lost.
#include <catch2/catch.hpp>

#include "checkpoint/engine/test_agent.hpp"

namespace amdahl::checkpoint {
namespace {

using std::chrono_literals::operator""s;
using test::identity;
using test::small_options;

// Speaks the protocol up to some message, then does what the test says.
class FakeAgent {
 public:
  explicit FakeAgent(const std::string& path) : listener_(*listen_for_trainers(path)) {}
  void accept() {
    std::optional<AcceptedTrainer> trainer;
    while (!trainer) trainer = *accept_trainer(listener_.get());
    socket_ = std::move(trainer->socket);
    REQUIRE(next().message.kind == AgentKind::kHello);
    REQUIRE(socket_.send({.kind = AgentKind::kWelcome, .protocol = kAgentProtocol}).has_value());
  }
  AgentPacket next() {
    for (;;) {
      REQUIRE(socket_.wait(30s).has_value());
      auto packet = socket_.receive();
      REQUIRE(packet.has_value());
      if (*packet) return **std::move(packet);
    }
  }
  void hear(AgentKind kind) { REQUIRE(next().message.kind == kind); }
  void say(const AgentMessage& message) { REQUIRE(socket_.send(message).has_value()); }
  void die() { socket_ = AgentSocket(); }

 private:
  Fd listener_;
  AgentSocket socket_;
};

struct World {
  RealClock clock = {};
  RealWaiter waiter = {};
  MemoryStore store = {};
  TestFolder folder = TestFolder();
  FakeAgent agent = FakeAgent(folder.path() + "/agent");
  std::vector<std::string> complaints = {};

  std::unique_ptr<Engine> engine(EngineOptions options) {
    options.arena.bytes = 1 << 20;
    std::unique_ptr<AgentLink> link;
    std::jthread other([&] { agent.accept(); });
    link = *AgentLink::connect(folder.path() + "/agent", nullptr);
    other.join();
    return *Engine::open(store, clock, waiter, std::move(options),
                         {.link = std::move(link), .complain = [this](std::string_view text) {
                            complaints.emplace_back(text);
                          }});
  }
  void check_steps(const std::vector<std::int64_t>& steps) {
    CHECK(*fetch_steps(store, {}) == steps);
    for (const std::int64_t step : steps)
      CHECK(*test::load_all(store, *fetch_chain(store, step, {})) == test::expected_at(step));
  }
};

void save(Engine& engine, std::int64_t step) {
  const auto state = test::state_at(step);
  const auto pointers = state.pointers();
  const auto saved = engine.save(test::request_of(state, step, pointers));
  INFO((saved ? "" : saved.error().context));
  REQUIRE(saved.has_value());
}

TEST_CASE("Engine takes back what an agent that died had not said to be done") {
  World world;
  const auto engine = world.engine(small_options(identity("a")));
  save(*engine, 1);
  save(*engine, 2);
  world.agent.hear(AgentKind::kArena);
  world.agent.hear(AgentKind::kSave);
  CHECK(engine->wait(std::chrono::milliseconds(20)).error().code == Errc::kTimeout);
  world.agent.die();
  REQUIRE(engine->wait(30s).has_value());
  world.check_steps({2, 1});
  save(*engine, 3);
  REQUIRE(engine->wait(30s).has_value());
  world.check_steps({3, 2, 1});
  const EngineStatus status = engine->status();
  CHECK_FALSE(status.by_agent);
  CHECK(status.commits == 3);
  CHECK(status.queued_bytes == 0);
  CHECK_FALSE(status.agent_lost.empty());
  CHECK(world.complaints.size() == 1);
}

TEST_CASE("Engine does not write again what its agent had committed before it died") {
  World world;
  const auto engine = world.engine(small_options(identity("a")));
  save(*engine, 1);
  world.agent.hear(AgentKind::kArena);
  world.agent.hear(AgentKind::kSave);
  WriteStatus status;
  status.committed_step = 1;
  status.commits = 1;
  world.agent.say({.kind = AgentKind::kDone, .step = 1, .status = {to_message(status)}});
  REQUIRE(engine->wait(30s).has_value());
  world.agent.die();
  save(*engine, 2);
  REQUIRE(engine->wait(30s).has_value());
  world.check_steps({2});
  CHECK(engine->status().commits == 2);
  CHECK(*engine->status().committed_step == 2);
}

TEST_CASE("Engine goes on where an agent had written half of a save") {
  // Everything that the agent might have created before it died, one object more each time.
  MemoryStore whole;
  {
    RealClock clock;
    RealWaiter waiter;
    const auto engine = *Engine::open(whole, clock, waiter, small_options(identity("a")));
    REQUIRE(test::save_step(*engine, 4).has_value());
  }
  const auto objects = whole.objects();
  for (std::size_t count = 0; count <= objects.size(); ++count) {
    World world;
    std::size_t left = count;
    // Blobs and data before the receipt, as they are written; the manifest is the last.
    for (const bool manifest : {false, true})
      for (const auto& [name, content] : objects)
        if (left > 0 && name.starts_with("manifests/") == manifest) {
          world.store.replace(name, content);
          --left;
        }
    const auto engine = world.engine(small_options(identity("a")));
    save(*engine, 4);
    world.agent.die();
    REQUIRE(engine->wait(30s).has_value());
    world.check_steps({4});
  }
}

TEST_CASE("Engine of several ranks takes the receipt over that its agent had written") {
  // Under other names than it would choose now: of an agent that had to try a part again.
  MemoryStore of_agent;
  RealClock clock;
  RealWaiter waiter;
  const EngineOptions options = small_options(identity("a", 1, 2));
  const auto key = [](const std::string& name) { return parse_name(name)->kind; };
  {
    EngineOptions hurried = options;
    hurried.save_deadline = std::chrono::milliseconds(100);  // there is no rank 0
    const auto engine = *Engine::open(of_agent, clock, waiter, hurried);
    CHECK(test::save_step(*engine, 4).error().code == Errc::kTimeout);
  }
  World world;
  for (const auto& [name, content] : of_agent.objects()) world.store.replace(name, content);
  const auto engine = world.engine(options);
  const auto state = test::state_at(4, 1, 2);
  const auto pointers = state.pointers();
  REQUIRE(engine->save(test::request_of(state, 4, pointers)).has_value());
  world.agent.die();
  const auto first = *Engine::open(world.store, clock, waiter, small_options(identity("a", 0, 2)));
  REQUIRE(test::save_step(*first, 4).has_value());
  REQUIRE(engine->wait(30s).has_value());
  CHECK(*test::load_all(world.store, *fetch_chain(world.store, 4, {})) == test::expected_at(4, 2));
  for (const auto& [name, content] : of_agent.objects())
    if (key(name) == ObjectKind::kReceipt) CHECK(world.store.objects().at(name) == content);
}

TEST_CASE("Engine reports what its agent could not save") {
  World world;
  const auto engine = world.engine(small_options(identity("a")));
  save(*engine, 1);
  WriteStatus status;
  status.failures = 1;
  AgentMessage failed =
      failed_message(AgentKind::kDone, {.code = Errc::kForbidden, .context = "not ours"});
  failed.step = 1;
  failed.status = {to_message(status)};
  world.agent.say(failed);
  const auto done = engine->wait(30s);
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code == Errc::kForbidden);
  CHECK(engine->status().failures == 1);
}

TEST_CASE("Engine writes itself when its agent talks nonsense") {
  World world;
  const auto engine = world.engine(small_options(identity("a")));
  world.agent.say({.kind = AgentKind::kDone, .step = 99, .status = {AgentStatus{}}});  // of no save
  save(*engine, 1);
  world.agent.say({.kind = AgentKind::kFreed, .step = 1});  // before it is done
  world.agent.say({.kind = AgentKind::kRefused, .code = 0, .text = "no more"});
  world.agent.die();
  REQUIRE(engine->wait(30s).has_value());
  world.check_steps({1});
}

}  // namespace
}  // namespace amdahl::checkpoint
