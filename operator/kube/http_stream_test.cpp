#include <catch2/catch.hpp>

#include "operator/kube/test_http_fixture.hpp"

namespace amdahl::kube {
namespace {

using namespace std::chrono_literals;
using testkit::chunk;
using testkit::chunked_head;
using testkit::http_response;
using testkit::Script;

TEST_CASE("A stream gives what has arrived, across chunks, and 0 at its end") {
  TransportFixture fixture;
  const auto gate = std::make_shared<testkit::Gate>();
  fixture.server.play(Script()
                          .expect()
                          .send(chunked_head() + chunk("one ") + chunk("two "))
                          .wait_for(gate)
                          .send(chunk("three") + std::string(testkit::kLastChunk)));
  const auto opened = fixture.open(watch_pods());
  REQUIRE(opened);
  CHECK(opened->head.status == 200);
  CHECK(opened->head.body.empty());
  CHECK(*fixture.read(*opened->body) == "one two ");
  gate->open();
  CHECK(*fixture.read(*opened->body, 3) == "thr");
  CHECK(*fixture.read(*opened->body) == "ee");
  CHECK(fixture.read(*opened->body)->empty());
  CHECK(fixture.read(*opened->body)->empty());
}

TEST_CASE("A stream that is refused has its text and no body", "[L7]") {
  TransportFixture fixture;
  fixture.server.play(Script().expect().send(http_response(410, R"({"reason":"Expired"})")));
  const auto opened = fixture.open(watch_pods());
  REQUIRE(opened);
  CHECK(opened->head.status == 410);
  CHECK(opened->head.body == R"({"reason":"Expired"})");
  CHECK(opened->body == nullptr);
}

TEST_CASE("A stream that breaks gives what came before, then the error") {
  struct Row {
    std::string tail;
    bool reset;
    Errc code;
  };
  for (const Row& row :
       {Row{"", false, Errc::kIo}, Row{"", true, Errc::kIo}, Row{"9\r\nhalf", false, Errc::kIo},
        Row{"zz\r\n", false, Errc::kCorrupt}}) {
    TransportFixture fixture;
    const auto gate = std::make_shared<testkit::Gate>();
    Script script;
    script.expect().send(chunked_head() + chunk("good")).wait_for(gate).send(row.tail);
    fixture.server.play(row.reset ? script.reset() : script.close());
    const auto opened = fixture.open(watch_pods());
    REQUIRE(opened);
    CHECK(*fixture.read(*opened->body) == "good");
    gate->open();
    Result<std::string> last = fixture.read(*opened->body);
    if (last && *last == "half") last = fixture.read(*opened->body);
    REQUIRE_FALSE(last);
    CHECK(last.error().code == row.code);
    CHECK(last.error().context.find("watch pods in research: ") == 0);
  }
}

TEST_CASE("A silent stream costs one deadline and may go on after it", "[L8]") {
  TransportFixture fixture;
  const auto gate = std::make_shared<testkit::Gate>();
  fixture.server.play(
      Script().expect().send(chunked_head()).wait_for(gate).send(chunk("late")).silence());
  const auto opened = fixture.open(watch_pods());
  REQUIRE(opened);
  const auto silent = fixture.read(*opened->body, 100, 30ms);
  REQUIRE_FALSE(silent);
  CHECK(silent.error().code == Errc::kTimeout);
  gate->open();
  CHECK(*fixture.read(*opened->body) == "late");
}

TEST_CASE("Every stream has its own connection and leaves none behind", "[L8][E7]") {
  TransportFixture fixture;
  fixture.options.pool.streams_max = 2;
  const std::string whole = chunked_head() + chunk("x") + std::string(testkit::kLastChunk);
  fixture.server.play_always(Script().expect().send(whole).silence());
  auto first = fixture.open(watch_pods());
  const auto second = fixture.open(watch_pods());
  REQUIRE(first);
  REQUIRE(second);
  CHECK(fixture.server.connections() == 2);
  const auto third = fixture.open(watch_pods());
  REQUIRE_FALSE(third);
  CHECK(third.error().code == Errc::kTooLarge);

  CHECK(*fixture.read(*first->body) == "x");
  CHECK(fixture.read(*first->body)->empty());
  first->body.reset();
  run_until_complete(fixture.io, fixture.clock.sleep_for(10ms));
  CHECK(fixture.server.open_connections() == 1);
  CHECK(fixture.transport().idle_connections() == 0);
  CHECK(fixture.open(watch_pods()));
  CHECK(fixture.server.connections() == 3);
}

TEST_CASE("A compressed stream is refused", "[C8]") {
  TransportFixture fixture;
  fixture.server.play(Script().expect().send(
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"));
  const auto opened = fixture.open(watch_pods());
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == Errc::kCorrupt);
}

Task<void> read_until_error(BodyStream& body, std::optional<Error>& into) {
  std::vector<char> room(100);
  for (;;) {
    const auto size = co_await body.read(room, Monotonic::max());
    if (size && *size > 0) continue;
    if (!size) into = size.error();
    co_return;
  }
}

TEST_CASE("A read that is cancelled says so") {
  TransportFixture fixture;
  fixture.server.play(Script().expect().send(chunked_head() + chunk("x")).silence());
  const auto opened = fixture.open(watch_pods());
  REQUIRE(opened);
  std::optional<Error> ended;
  TaskGroup group(fixture.io.get_executor());
  group.spawn("reader", read_until_error(*opened->body, ended));
  run_until_complete(fixture.io, fixture.clock.sleep_for(10ms));
  CHECK_FALSE(ended);
  group.stop();
  CHECK(run_until_complete(fixture.io, group.join(fixture.clock, fixture.in(1s))));
  REQUIRE(ended);
  CHECK(ended->code == Errc::kCancelled);
}

Task<void> count_turns(const bool& done, std::uint64_t& turns) {
  while (!done) {
    ++turns;
    co_await boost::asio::post(boost::asio::use_awaitable);
  }
}

Task<std::uint64_t> read_to_end(BodyStream& body, const Clock& clock, bool& done) {
  std::vector<char> room(128 << 10);
  std::uint64_t total = 0;
  for (;;) {
    const auto size = co_await body.read(room, clock.monotonic() + 5s);
    if (!size || *size == 0) break;
    total += *size;
  }
  done = true;
  co_return total;
}

TEST_CASE("A stream that never waits lets others have their turn", "[E7]") {
  TransportFixture fixture;
  constexpr std::uint64_t kBytes = std::uint64_t{32} << 20U;
  fixture.server.play(
      Script()
          .expect()
          .send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kBytes) + "\r\n\r\n")
          .send_zeros(kBytes));
  const auto opened = fixture.open(watch_pods());
  REQUIRE(opened);
  bool done = false;
  std::uint64_t turns = 0;
  TaskGroup others(fixture.io.get_executor());
  others.spawn("others", count_turns(done, turns));
  CHECK(run_until_complete(fixture.io, read_to_end(*opened->body, fixture.clock, done)) == kBytes);
  CHECK(run_until_complete(fixture.io, others.join(fixture.clock, fixture.in(1s))));
  CHECK(turns >= kBytes / (1U << 20U));  // at least once for each MiB
}

}  // namespace
}  // namespace amdahl::kube
