// What trainers say to the agent: bounds, nonsense, and memory that is not theirs to give.
#include "checkpoint/engine/agent_message.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "checkpoint/engine/memory_budget.hpp"
#include "checkpoint/engine/test_agent.hpp"

namespace amdahl::checkpoint {
namespace {

using std::chrono_literals::operator""s;
using test::AgentWorld;
using test::identity;
using test::small_options;

TEST_CASE("Agent messages are read as they were written") {
  WriteStatus status;
  status.committed_step = 7;
  status.committed_sha256 = std::string(64, 'a');
  status.last.upload = Seconds(1.5);
  status.rates.upload_bytes_per_second = 1e9;
  const AgentMessage done{.kind = AgentKind::kDone,
                          .step = 7,
                          .blobs = {{.object = 3, .name = "blobs/x"}},
                          .status = {to_message(status)}};
  const auto read = read_agent_message(write_agent_message(done));
  REQUIRE(read.has_value());
  CHECK(*read == done);
  const WriteStatus again = from_message(read->status[0]);
  CHECK(again.committed_step == 7);
  CHECK(again.last.upload == Seconds(1.5));
}

TEST_CASE("Agent messages are cut to their bounds, in whole letters") {
  AgentMessage long_one = failed_message(
      AgentKind::kRefused, {.code = Errc::kIo, .context = std::string(kAgentTextMax - 1, 'x')});
  long_one.text += "\xc3\xa4\xc3\xa4";
  const auto read = read_agent_message(write_agent_message(long_one));
  REQUIRE(read.has_value());
  CHECK(read->text == std::string(kAgentTextMax - 1, 'x'));
  AgentMessage many{.kind = AgentKind::kDone, .status = {AgentStatus{}}};
  many.blobs.assign(100'000, {.object = 1, .name = std::string(kNameBytesMax, 'b')});
  const std::string text = write_agent_message(many);
  CHECK(text.size() <= kAgentMessageBytesMax);
  CHECK(read_agent_message(text).has_value());
}

TEST_CASE("Agent messages that are none are refused") {
  for (const char* text :
       {"", "{}", "[]", R"({"kind":"hello"})", R"({"code":-1,"kind":"dance"})",
        R"({"code":-1,"kind":"save","step":1})",                   // no record
        R"({"code":-1,"kind":"save","step":-1,"recordBytes":5})",  // a step
        R"({"code":-1,"kind":"save","step":1,"recordBytes":-5})",  // bytes
        R"({"code":-1,"kind":"save","recordBegin":99999999999999999,"recordBytes":5})",
        R"({"code":-1,"kind":"save","step":1,"recordBytes":99999999999})",     // too many
        R"({"code":99,"kind":"refused"})", R"({"code":-1,"kind":"refused"})",  // no such error
        R"({"code":3,"kind":"welcome"})", R"({"code":-1,"kind":"done","step":1})",
        R"({"code":-1,"kind":"settle","options":{}})", R"({"code":-1,"kind":"settle","more":1})"}) {
    INFO(text);
    CHECK_FALSE(read_agent_message(text).has_value());
  }
  CHECK(read_agent_message(std::string(kAgentMessageBytesMax + 1, ' ')).error().code ==
        Errc::kTooLarge);
}

// A trainer that says whatever a test wants.
struct Stranger {
  AgentSocket socket;
  explicit Stranger(const AgentWorld& world) : socket(*AgentSocket::connect(world.path())) {}
  void say(const AgentMessage& message, int fd = -1) {
    REQUIRE(socket.send(message, fd).has_value());
  }
  void hello(const EngineOptions& options) {
    say({.kind = AgentKind::kHello,
         .protocol = kAgentProtocol,
         .options = AgentWorld::hello(options)});
    CHECK(answer().kind == AgentKind::kWelcome);
  }
  AgentMessage answer() {
    for (;;) {
      REQUIRE(socket.wait(30s).has_value());
      auto packet = socket.receive();
      REQUIRE(packet.has_value());
      if (*packet) return (*packet)->message;
    }
  }
  std::string refused() {
    const AgentMessage message = answer();
    CHECK(message.kind == AgentKind::kRefused);
    return message.text;
  }
};

TEST_CASE("Agent turns away who breaks the protocol, and serves the others") {
  AgentWorld world;
  const EngineOptions options = small_options(identity("a"));
  Stranger early(world);
  early.say({.kind = AgentKind::kSave, .step = 1, .record_bytes = 5});
  CHECK(early.refused() == "save: no hello");
  Stranger old(world);
  old.say({.kind = AgentKind::kHello, .protocol = 77});
  CHECK(old.refused().find("version 77") != std::string::npos);
  Stranger twice(world);
  twice.hello(options);
  twice.say({.kind = AgentKind::kHello, .protocol = kAgentProtocol});
  CHECK(twice.refused() == "hello: a second one");
  Stranger homeless(world);
  homeless.hello(options);
  homeless.say({.kind = AgentKind::kSave, .step = 1, .record_bytes = 5});
  CHECK(homeless.refused().find("no arena") != std::string::npos);
  Stranger mirror(world);
  mirror.say({.kind = AgentKind::kWelcome});
  CHECK(mirror.refused().find("only an agent") != std::string::npos);
  Stranger garbage(world);
  REQUIRE(::write(garbage.socket.fd(), "{", 1) == 1);
  CHECK_FALSE(garbage.refused().empty());
  CHECK(world.complaints().size() == 6);
  const auto engine = world.engine(options);
  CHECK(test::save_step(*engine, 1).has_value());
}

TEST_CASE("Agent takes memory only that nobody can cut short") {
  AgentWorld world;
  TestFolder folder;
  const EngineOptions options = small_options(identity("a"));
  const Fd open_memory(::memfd_create("open", MFD_CLOEXEC));
  REQUIRE(::ftruncate(open_memory.get(), 8192) == 0);
  const std::string path = folder.path() + "/named";
  const Fd named(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(::ftruncate(named.get(), 8192) == 0);
  const Fd empty(::memfd_create("empty", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const Pipe pipe = *make_pipe();
  for (const int fd : {named.get(), empty.get(), pipe.read.get(), -1}) {
    Stranger stranger(world);
    stranger.hello(options);
    stranger.say({.kind = AgentKind::kArena}, fd);
    CHECK_FALSE(stranger.refused().empty());
  }
  for (const ArenaOptions& good :
       {ArenaOptions{.bytes = 8192, .kind = ArenaKind::kAnonymousFile},
        ArenaOptions{.bytes = 8192, .kind = ArenaKind::kFile, .path = folder.path() + "/mine"},
        ArenaOptions{.bytes = 8192, .kind = ArenaKind::kFolder, .path = "/dev/shm"}}) {
    const auto arena = Arena::create(good);
    INFO((arena ? "" : arena.error().context));
    REQUIRE(arena.has_value());
    CHECK(Arena::adopt(arena->fd()).has_value());
  }
  CHECK(std::filesystem::exists(folder.path() + "/mine") == false);
}

TEST_CASE("Agent reads no record that does not lie in its arena, or is of another step") {
  const EngineOptions options = small_options(identity("a"));
  const auto arena = *Arena::create({.bytes = 1 << 18, .kind = ArenaKind::kAnonymousFile});
  const test::TestState state = test::state_at(3);
  const auto plan = *plan_snapshot(state.specs, options.plan);
  const auto pointers = state.pointers();
  SnapshotRecord record = record_of(
      *plan, copy_tensors({.plan = *plan, .tensors = pointers, .memory = arena.memory()}), 0);
  record.step = 3;
  struct Row {
    std::int64_t begin;
    std::int64_t bytes;  // 0: those of the record
    std::int64_t step;
    std::function<void(SnapshotRecord&)> change = [](SnapshotRecord&) {};
  };
  const std::vector<Row> rows = {
      {.begin = (1 << 18) + 1, .bytes = 0, .step = 3},
      {.begin = 1 << 17, .bytes = 1 << 18, .step = 3},
      {.begin = (1 << 17) + 1, .bytes = 0, .step = 3},
      {.begin = 1 << 17, .bytes = 9, .step = 3},
      {.begin = 1 << 17, .bytes = 0, .step = 4},
      {.begin = 1 << 17,
       .bytes = 0,
       .step = 3,
       .change = [](SnapshotRecord& one) { one.objects[0].begin = 1 << 18; }},
      {.begin = 1 << 17,
       .bytes = 0,
       .step = 3,
       .change = [](SnapshotRecord& one) { one.tensors[0].end += 1 << 16; }},
      {.begin = 1 << 17,
       .bytes = 0,
       .step = 3,
       .change =
           [](SnapshotRecord& one) {
             TensorRecord& tensor = one.tensors[0];
             tensor.dtype = Dtype::kU8;
             tensor.shape = {1 << 16};
             tensor.end = tensor.begin + (1 << 16);
           }},
      {.begin = 1 << 17, .bytes = 0, .step = 3, .change = [](SnapshotRecord& one) {
         one.tensors[0].object = 99;
       }}};
  AgentWorld world;
  for (const Row& row : rows) {
    Stranger stranger(world);
    stranger.hello(options);
    stranger.say({.kind = AgentKind::kArena}, arena.fd());
    SnapshotRecord changed = record;
    row.change(changed);
    const std::string text = write_snapshot_record(changed);
    std::memcpy(arena.memory().data() + (1 << 17), text.data(), text.size());
    const auto bytes = row.bytes != 0 ? row.bytes : static_cast<std::int64_t>(text.size());
    stranger.say({.kind = AgentKind::kSave,
                  .step = row.step,
                  .record_begin = row.begin,
                  .record_bytes = bytes});
    CHECK_FALSE(stranger.refused().empty());
  }
  CHECK(world.store.objects().empty());
}

TEST_CASE("Memory that is not there is refused with the numbers") {
  const MemoryBudget budget{.node_bytes = 1000, .limit_bytes = 5000, .local_processes = 2};
  CHECK(check_budget(500, budget).has_value());
  const auto share = check_budget(501, budget);
  REQUIRE_FALSE(share.has_value());
  CHECK(share.error().code == Errc::kTooLarge);
  for (const char* number : {"501 bytes", "AMDAHL_ARENA_BYTES=1000", "leaves 500"})
    CHECK(share.error().context.find(number) != std::string::npos);
  const auto limit = check_budget(2501, {.limit_bytes = 5000, .local_processes = 2});
  REQUIRE_FALSE(limit.has_value());
  for (const char* number : {"2501 bytes", "memory.max) is 5000"})
    CHECK(limit.error().context.find(number) != std::string::npos);
  CHECK(check_budget(kArenaBytesMax, {}).has_value());
}

TEST_CASE("The container's memory limit is read from either version of control groups") {
  const auto with = [](std::string path, std::string text) {
    return read_memory_limit(
        [=](const std::string& asked) { return asked == path ? text : std::string(); });
  };
  CHECK(with("/sys/fs/cgroup/memory.max", "max") == 0);
  CHECK(with("/sys/fs/cgroup/memory.max", "2147483648\n") == 2147483648);
  CHECK(with("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1024") == 1024);
  CHECK(with("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712") == 0);
  CHECK(with("", "") == 0);
}

TEST_CASE("Engine's first save refuses a memory limit that is too small") {
  MemoryStore store;
  RealClock clock;
  RealWaiter waiter;
  EngineOptions options = small_options(identity("a"));
  options.budget = {.node_bytes = 4096, .local_processes = 1};
  const auto engine = *Engine::open(store, clock, waiter, options);
  const auto saved = test::save_step(*engine, 1);
  REQUIRE_FALSE(saved.has_value());
  CHECK(saved.error().code == Errc::kTooLarge);
  CHECK(saved.error().context.find("AMDAHL_ARENA_BYTES=4096") != std::string::npos);
  CHECK(store.objects().empty());
}

}  // namespace
}  // namespace amdahl::checkpoint
