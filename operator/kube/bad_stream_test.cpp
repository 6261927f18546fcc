// Bad input inside a watch, from a server on loopback to the sink: nothing is lost, and what is
// reported names verb, kind, namespace and cause. Plain answers are in bad_input_test.cpp.

#include <catch2/catch.hpp>

#include "operator/kube/test_http_fixture.hpp"
#include "operator/kube/test_watch_sink.hpp"

namespace amdahl::kube {
namespace {

using namespace std::chrono_literals;
using Catch::Contains;
using Catch::StartsWith;
using testkit::chunk;
using testkit::chunked_head;
using testkit::http_ok;
using testkit::http_response;
using testkit::Script;
using Notes = std::vector<std::string>;

constexpr std::chrono::seconds kPauseMax{4};  // a backoff; every deadline is longer

// A watcher and a real connection, in virtual time: pauses pass at once, deadlines only when told.
struct WatchWorld {
  boost::asio::io_context io;
  RealClock real;
  ManualClock clock;
  testkit::ScriptedServer server{io, clock};
  FakeCredentials credentials;
  HttpTransport transport{
      io.get_executor(),
      clock,
      {.server = *parse_url("http://" + server.address()), .credentials = &credentials}};
  Client client{transport, clock, Rng(1)};
  NotingSink sink;
  std::vector<Error> problems;
  Watcher watcher{client,
                  Rng(2),
                  {.resource = kPodResource,
                   .ns = "research",
                   .on_problem = [this](const Error& error) { problems.push_back(error); }},
                  sink};
  TaskGroup tasks{io.get_executor()};

  void start() { tasks.spawn("watcher", watcher.run()); }
  ~WatchWorld() {
    tasks.stop();
    until([this] { return tasks.empty(); });
  }
  bool until(const std::function<bool()>& done) {
    const Monotonic limit = real.monotonic() + 20s;
    while (!done() && real.monotonic() < limit) {
      io.restart();
      if (io.run_one_for(2ms) > 0) continue;
      const auto pause = clock.next_deadline() - clock.monotonic();
      if (pause <= kPauseMax) clock.advance(pause);
    }
    return done();
  }
  bool until_noted(std::size_t count) {
    return until([&] { return sink.notes.size() >= count; });
  }
  bool asked(std::size_t index, const std::string& part) const {
    return index < server.requests().size() && server.requests()[index].target.contains(part);
  }
};

Script stream(const std::string& chunks) {
  return Script().expect().send(chunked_head() + chunks);
}
Script new_list() {
  return stream(chunk(event("ADDED", "p1", "12")) + chunk(bookmark("13", true))).silence();
}
Script audit_answer() {
  return Script().expect().send(http_ok(R"({"metadata":{"resourceVersion":"10"},"items":[]})"));
}

// An event that cannot be taken leads to a new list that holds what it may have said.
void check_healed(Script poisoned, Errc code, const std::string& cause) {
  WatchWorld world;
  world.server.play(std::move(poisoned));
  world.server.play(new_list());
  world.start();
  REQUIRE(world.until_noted(2));
  CHECK(world.sink.notes == Notes{"publish 10 []", "publish 13 [p1]"});
  CHECK(world.watcher.counts().undecodable == 1);
  CHECK(world.asked(1, "sendInitialEvents=true"));
  CHECK(world.asked(1, "resourceVersion=10"));  // not older than what was shown (L3)
  REQUIRE(world.problems.size() == 1);
  CHECK(world.problems[0].code == code);
  CHECK_THAT(world.problems[0].context, StartsWith("watch pods in research: "));
  CHECK_THAT(world.problems[0].context, Contains(cause));
}

TEST_CASE("An event of an unknown type is reported and healed by a new list", "[L7]") {
  check_healed(stream(chunk(bookmark("10", true)) + chunk(event("PATCHED", "p1", "11"))).silence(),
               Errc::kCorrupt, "unknown type");
}

TEST_CASE("An event 10,000 levels deep is reported and healed by a new list", "[L7][C8]") {
  std::string deep = R"({"type":"MODIFIED","object":{"metadata":{"name":)";
  deep += std::string(10'000, '[') + std::string(10'000, ']') + "}}}\n";
  check_healed(stream(chunk(bookmark("10", true)) + chunk(deep)).silence(), Errc::kInvalid,
               "metadata.name");
}

TEST_CASE("An event with invalid UTF-8 is reported and healed by a new list", "[L7][C8]") {
  check_healed(
      stream(chunk(bookmark("10", true)) + chunk(event("MODIFIED", "caf\xe9", "11"))).silence(),
      Errc::kCorrupt, "UTF-8");
}

TEST_CASE("An event of 200 MB is dropped at its limit and healed by a new list", "[L7][C8]") {
  constexpr std::uint64_t kHuge = 200'000'000;
  Script huge = stream(chunk(bookmark("10", true)) + "bebc200\r\n");  // the same, in hex
  check_healed(huge.send_zeros(kHuge), Errc::kTooLarge, std::to_string(kFrameBytesMax));
}

TEST_CASE("410 leads to a new list, as a status and as an event inside a 200 stream", "[L3][L7]") {
  const std::string gone = R"({"kind":"Status","reason":"Expired","message":"too old"})";
  const Script as_status = Script().expect().send(http_response(410, gone));
  const Script as_event = stream(chunk(error_event(410, "Expired"))).silence();
  for (const Script& second : {as_status, as_event}) {
    WatchWorld world;
    world.server.play(
        stream(chunk(bookmark("10", true)) + std::string(testkit::kLastChunk)).silence());
    world.server.play(second);
    world.server.play(new_list());
    world.start();
    REQUIRE(world.until_noted(2));
    CHECK(world.sink.notes == Notes{"publish 10 []", "publish 13 [p1]"});
    CHECK(world.asked(1, "resourceVersion=10"));
    CHECK(world.asked(2, "sendInitialEvents=true"));
    REQUIRE(world.problems.size() == 1);
    CHECK(world.problems[0].code == Errc::kGone);
    CHECK_THAT(world.problems[0].context, StartsWith("watch pods in research: "));
  }
}

TEST_CASE("Any other refusal inside a 200 stream is reported, and the watch keeps its place",
          "[L7][L9]") {
  struct Row {
    int status;
    std::string reason;
    Errc code;
  };
  for (const Row& row :
       {Row{400, "BadRequest", Errc::kInvalid}, Row{401, "Unauthorized", Errc::kUnauthorized},
        Row{403, "Forbidden", Errc::kForbidden}, Row{404, "NotFound", Errc::kNotFound},
        Row{409, "Conflict", Errc::kConflict}, Row{413, "RequestEntityTooLarge", Errc::kTooLarge},
        Row{422, "Invalid", Errc::kInvalid}, Row{429, "TooManyRequests", Errc::kThrottled},
        Row{500, "InternalError", Errc::kUnavailable},
        Row{503, "ServiceUnavailable", Errc::kUnavailable}, Row{504, "Timeout", Errc::kTimeout}}) {
    INFO(row.status);
    WatchWorld world;
    world.server.play(
        stream(chunk(bookmark("10", true)) + chunk(error_event(row.status, row.reason))).silence());
    world.server.play(stream(chunk(event("ADDED", "p1", "11"))).silence());
    world.start();
    REQUIRE(world.until_noted(2));
    CHECK(world.sink.notes == Notes{"publish 10 []", "added p1@11"});
    CHECK(world.asked(1, "resourceVersion=10"));
    CHECK_FALSE(world.asked(1, "sendInitialEvents"));
    REQUIRE(world.problems.size() == 1);
    CHECK(world.problems[0].code == row.code);
    CHECK(world.problems[0].context == "watch pods in research: m");
  }
}

// A connection that broke: the server's versions are looked at, and the watch goes on.
void check_resumed(WatchWorld& world, Errc code) {
  REQUIRE(world.until_noted(2));
  CHECK(world.sink.notes == Notes{"publish 10 []", "added p1@11"});
  CHECK(world.asked(1, "limit=1"));
  CHECK(world.asked(2, "resourceVersion=10"));
  CHECK(world.watcher.counts().lists == 1);
  REQUIRE(world.problems.size() == 1);
  CHECK(world.problems[0].code == code);
  CHECK_THAT(world.problems[0].context,
             StartsWith("watch pods in research: ") && Contains(world.server.address()));
}

TEST_CASE("A truncated chunk in a watch is reported, and the watch goes on from its place",
          "[L7][L9]") {
  const std::string half = event("ADDED", "p1", "11").substr(0, 40);
  for (const std::string& tail : {std::string(), std::string("50\r\n") + half, chunk(half)}) {
    WatchWorld world;
    world.server.play(stream(chunk(bookmark("10", true)) + tail));
    world.server.play(audit_answer());
    world.server.play(stream(chunk(event("ADDED", "p1", "11"))).silence());
    world.start();
    check_resumed(world, Errc::kIo);
  }
}

TEST_CASE("A half-open watch (no FIN) is given up after the server's own limit, and goes on",
          "[L8]") {
  WatchWorld world;
  world.server.play(stream(chunk(bookmark("10", true))).silence());
  world.server.play(audit_answer());
  world.server.play(stream(chunk(event("ADDED", "p1", "11"))).silence());
  world.start();
  REQUIRE(world.until_noted(1));
  world.clock.advance(299s);
  int turns = 0;
  CHECK(world.until([&] { return ++turns > 20; }));
  CHECK(world.problems.empty());
  world.clock.advance(307s);
  check_resumed(world, Errc::kTimeout);
}

TEST_CASE("A resourceVersion that goes back drops what was known and lists again", "[L4]") {
  const std::string back = event("MODIFIED", "p1", "5");
  for (const std::string& second : {back, bookmark("5", false)}) {
    WatchWorld world;
    world.server.play(stream(chunk(bookmark("10", true)) + chunk(second)).silence());
    world.server.play(
        stream(chunk(event("ADDED", "old", "4")) + chunk(bookmark("5", true))).silence());
    world.start();
    REQUIRE(world.until_noted(2));
    CHECK(world.sink.notes == Notes{"publish 10 []", "publish 5 [old]"});
    CHECK(world.watcher.counts().rewinds == 1);
    CHECK_FALSE(world.asked(1, "resourceVersion=10"));  // that one is in no history any more
  }
}

TEST_CASE("A watch that ends every second is resumed each time and listed once", "[L9]") {
  constexpr int kStreams = 20;
  WatchWorld world;
  const auto second_long = [](const std::string& chunks) {
    return stream(chunks).delay(1s).send(std::string(testkit::kLastChunk));
  };
  world.server.play(second_long(chunk(bookmark("10", true))));
  for (int i = 1; i < kStreams; ++i)
    world.server.play(
        second_long(i % 2 == 0 ? chunk(event("MODIFIED", "p1", std::to_string(10 + i))) : ""));
  world.server.play_always(stream("").silence());
  const Monotonic begin = world.clock.monotonic();
  world.start();
  REQUIRE(world.until([&] { return world.server.requests().size() == kStreams + 1; }));
  CHECK(world.watcher.counts().lists == 1);
  CHECK(world.problems.empty());
  CHECK(world.sink.notes.size() == 1 + (kStreams - 1) / 2);
  CHECK(world.asked(kStreams, "resourceVersion=28"));
  // No flood: one request for each second, and no backoff for what is not a failure.
  CHECK(world.clock.monotonic() - begin == 1s * kStreams);
}

TEST_CASE("Clock jumps of years, either way, do not disturb a watch", "[L8][L9]") {
  WatchWorld world;
  const auto forward = std::make_shared<testkit::Gate>();
  const auto back = std::make_shared<testkit::Gate>();
  world.server.play(stream(chunk(bookmark("10", true)))
                        .wait_for(forward)
                        .send(chunk(event("ADDED", "p1", "11")))
                        .wait_for(back)
                        .send(chunk(event("DELETED", "p1", "12")))
                        .silence());
  world.start();
  REQUIRE(world.until_noted(1));
  world.clock.jump_wall(24h * 3650);
  forward->open();
  REQUIRE(world.until_noted(2));
  world.clock.jump_wall(-24h * 7300);
  back->open();
  REQUIRE(world.until_noted(3));
  CHECK(world.sink.notes == Notes{"publish 10 []", "added p1@11", "deleted p1@12"});
  CHECK(world.server.connections() == 1);
  CHECK(world.problems.empty());
}

}  // namespace
}  // namespace amdahl::kube
