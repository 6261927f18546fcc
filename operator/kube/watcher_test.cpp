// The watch loop against a scripted wire: what it asks for, in which order, and what reaches the
// sink.
#include "operator/kube/watcher.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <deque>

#include "base/task_group.hpp"
#include "operator/kube/test_watch_sink.hpp"

namespace amdahl::kube {
namespace {
using namespace std::chrono_literals;

// One answer: an error, or a 200 whose body is `chunks`, then an end or silence.
struct Answer {
  std::optional<Error> error = {};
  std::vector<std::string> chunks = {};
  bool silent = false;  // never ends: the read waits for its deadline
  bool breaks = false;  // ends in the middle
  std::string type = "application/json";
};

class ScriptedStream final : public BodyStream {
 public:
  ScriptedStream(Clock& clock, Answer answer) : clock_(clock), answer_(std::move(answer)) {}
  Task<Result<std::size_t>> read(std::span<char> into, Monotonic deadline) override {
    if (at_ < answer_.chunks.size()) {
      std::string& chunk = answer_.chunks[at_];
      const std::size_t size = std::min(chunk.size(), into.size());
      std::copy_n(chunk.begin(), size, into.begin());
      chunk.erase(0, size);
      if (chunk.empty()) ++at_;
      co_return size;
    }
    if (answer_.breaks) co_return fail(Errc::kIo, "connection reset");
    if (!answer_.silent) co_return 0;
    const bool due = co_await clock_.sleep_until(deadline);
    co_return fail(due ? Errc::kTimeout : Errc::kCancelled, "no bytes came");
  }

 private:
  Clock& clock_;
  Answer answer_;
  std::size_t at_ = 0;
};

class ScriptedWire final : public Transport {
 public:
  explicit ScriptedWire(Clock& clock) : clock_(clock) {}
  Task<Result<Response>> send(Request request, Monotonic /*deadline*/) override {
    asked.push_back(request.target);
    Answer answer = take();
    if (answer.error) co_return std::unexpected(*answer.error);
    co_return Response{.status = 200,
                       .headers = {{.name = "Content-Type", .value = answer.type}},
                       .body = answer.chunks.empty() ? "{}" : answer.chunks.front()};
  }
  Task<Result<StreamResponse>> open(Request request, Monotonic /*head_deadline*/) override {
    asked.push_back(request.target);
    Answer answer = take();
    if (answer.error) co_return std::unexpected(*answer.error);
    Response head{
        .status = 200, .headers = {{.name = "Content-Type", .value = answer.type}}, .body = {}};
    co_return StreamResponse{.head = std::move(head),
                             .body = std::make_unique<ScriptedStream>(clock_, std::move(answer))};
  }
  void set_fence(const WriteFence* /*fence*/) override {}

  std::deque<Answer> answers;
  std::vector<std::string> asked;

 private:
  Answer take() {
    if (answers.empty()) return {.silent = true};  // the script is over: stay quiet
    Answer next = std::move(answers.front());
    answers.pop_front();
    return next;
  }
  Clock& clock_;
};

struct World {
  boost::asio::io_context io;
  ManualClock clock;
  ScriptedWire wire{clock};
  Client client{wire, clock, Rng(1)};
  NotingSink sink;
  std::vector<Error> problems;
  Watcher watcher{
      client,
      Rng(2),
      {.resource = kPods, .on_problem = [this](const Error& e) { problems.push_back(e); }},
      sink};

  // Lets the watcher live for that long of virtual time.
  void run(std::chrono::nanoseconds time) {
    TaskGroup group(io.get_executor());
    group.spawn("watcher", watcher.run());
    const Monotonic stop = clock.monotonic() + time;
    for (int turns = 0; turns < 10'000; ++turns) {
      io.restart();
      io.poll();
      if (clock.next_deadline() > stop) break;
      clock.advance(clock.next_deadline() - clock.monotonic());
    }
    group.stop();
    io.restart();
    io.poll();
  }
  bool asked(std::size_t index, std::string_view part) const {
    return index < wire.asked.size() && wire.asked[index].find(part) != std::string::npos;
  }
};

TEST_CASE(
    "Watcher publishes once, at the end of the initial events, and goes on with the same stream",
    "[L1][L5][L6]") {
  World world;
  world.wire.answers = {
      {.chunks = {event("ADDED", "p1", "7"), event("ADDED", "p2", "3"), bookmark("9", false),
                  bookmark("10", true), event("MODIFIED", "p1", "11"), bookmark("20", false)},
       .silent = true}};
  world.run(1s);
  CHECK(world.sink.notes ==
        std::vector<std::string>{"publish 10 [p1 p2]", "modified p1@11", "at 20"});
  REQUIRE(world.wire.asked.size() == 1);
  CHECK(world.asked(0, "sendInitialEvents=true"));
  CHECK(world.asked(0, "resourceVersionMatch=NotOlderThan"));
  CHECK(world.asked(0, "allowWatchBookmarks=true"));
  CHECK_FALSE(world.asked(0, "resourceVersion=0"));
}

TEST_CASE("Watcher cuts events out of any chunks", "[L7]") {
  const std::string all =
      event("ADDED", "p1", "7") + bookmark("10", true) + event("DELETED", "p1", "12");
  World world;
  Answer answer{.silent = true};
  for (const char c : all) answer.chunks.emplace_back(1, c);
  world.wire.answers = {answer};
  world.run(1s);
  CHECK(world.sink.notes == std::vector<std::string>{"publish 10 [p1]", "deleted p1@12"});
}

TEST_CASE("Watcher falls back to pages and then watches from the list's version", "[L2]") {
  World world;
  const std::string page1 =
      R"({"kind":"PodList","metadata":{"resourceVersion":"40","continue":"abc"},"items":[{"metadata":{"name":"p1","resourceVersion":"3"}}]})";
  const std::string page2 =
      R"({"items":[{"metadata":{"name":"p2","resourceVersion":"4"}}],"metadata":{"resourceVersion":"40"}})";
  world.wire.answers = {
      {.error = Error{.code = Errc::kInvalid, .context = "sendInitialEvents is forbidden"}},
      {.chunks = {page1}},
      {.chunks = {page2}},
      {.chunks = {event("ADDED", "p3", "41")}, .silent = true}};
  world.run(1s);
  CHECK(world.sink.notes == std::vector<std::string>{"publish 40 [p1 p2]", "added p3@41"});
  CHECK(world.asked(1, "limit=500"));
  CHECK_FALSE(world.asked(1, "resourceVersion="));  // consistent, never "0"
  CHECK(world.asked(2, "continue=abc"));
  CHECK(world.asked(3, "resourceVersion=40"));
}

TEST_CASE("Watcher resumes where it was when a stream ends, without listing again", "[L3][L9]") {
  World world;
  world.wire.answers = {{.chunks = {bookmark("10", true), event("ADDED", "p1", "11")}},
                        {.chunks = {event("MODIFIED", "p1", "12")}},
                        {.silent = true}};
  world.run(3s);
  CHECK(world.asked(1, "resourceVersion=11"));
  CHECK(world.asked(2, "resourceVersion=12"));
  CHECK(world.watcher.counts().lists == 1);
}

TEST_CASE("Watcher lists again after 410, whichever way it comes", "[L7]") {
  for (const bool as_event : {true, false}) {
    World world;
    Answer gone{.error = Error{.code = Errc::kGone, .context = "too old"}};
    if (as_event) gone = {.chunks = {error_event(410, "Expired")}};
    world.wire.answers = {
        {.chunks = {bookmark("10", true)}},
        gone,
        {.chunks = {event("ADDED", "p9", "90"), bookmark("99", true)}, .silent = true}};
    world.run(5s);
    CHECK(world.sink.notes == std::vector<std::string>{"publish 10 []", "publish 99 [p9]"});
  }
}

TEST_CASE("Watcher does not skip what it cannot read: it lists again and counts", "[L7][C8]") {
  std::string deep = R"({"type":"MODIFIED","object":)";
  for (int i = 0; i < 10'000; ++i) deep += "{\"metadata\":";
  for (const std::string& poison :
       {std::string("{\"type\":\"PATCHED\",\"object\":{}}\n"), std::string("not json\n"),
        deep + "\n",
        std::string("{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":7}}}\n"),
        std::string("{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"\xff\","
                    "\"resourceVersion\":\"11\"}}}\n")}) {
    World world;
    world.wire.answers = {
        {.chunks = {bookmark("10", true), poison}},
        {.chunks = {event("ADDED", "p1", "12"), bookmark("13", true)}, .silent = true}};
    world.run(5s);
    CHECK(world.sink.notes == std::vector<std::string>{"publish 10 []", "publish 13 [p1]"});
    CHECK(world.watcher.counts().undecodable == 1);
    CHECK(world.asked(1, "resourceVersion=10"));  // not older than what was seen (L3)
    REQUIRE_FALSE(world.problems.empty());
    CHECK(world.problems[0].context.find("watch pods") == 0);
  }
}

// An object of which nothing can be read is no reason to see none.
TEST_CASE("Watcher lists the others when an object of a list cannot be read", "[L7][A1]") {
  const std::string poison = "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":7}}}\n";
  World streamed;
  streamed.wire.answers = {{.chunks = {event("ADDED", "p1", "7"), poison, event("ADDED", "p2", "8"),
                                       bookmark("10", true), event("ADDED", "p3", "11")},
                            .silent = true}};
  streamed.run(5s);
  CHECK(streamed.sink.notes == std::vector<std::string>{"publish 10 [p1 p2]", "added p3@11"});
  World paged;
  paged.wire.answers = {
      {.error = Error{.code = Errc::kInvalid, .context = "sendInitialEvents is forbidden"}},
      {.chunks = {R"({"metadata":{"resourceVersion":"40"},"items":[{"metadata":{"name":7}},
                      {"metadata":{"name":"p1","resourceVersion":"3"}}]})"}},
      {.silent = true}};
  paged.run(5s);
  CHECK(paged.sink.notes == std::vector<std::string>{"publish 40 [p1]"});
  for (const World* world : {&streamed, &paged}) {
    CHECK(world->watcher.counts().unreadable == 1);
    CHECK(world->watcher.counts().lists == (world == &paged ? 2 : 1));
    CHECK(world->problems.back().context.find("cannot be read") != std::string::npos);
  }
}

TEST_CASE(
    "Watcher gives up a silent connection after the server's own time limit and a little more",
    "[L8]") {
  World world;
  world.wire.answers = {{.chunks = {bookmark("10", true)}, .silent = true}};
  world.run(11min);
  // Between 5 and 10 minutes the first stream is dropped; the audit and a new watch follow.
  REQUIRE(world.wire.asked.size() >= 2);
  CHECK(world.problems.at(0).code == Errc::kTimeout);
}

TEST_CASE("Watcher notices a server that was restored from a backup", "[L4]") {
  World world;
  world.wire.answers = {
      {.chunks = {bookmark("1000", true)}, .silent = true},  // deaf until its deadline
      {.chunks = {R"({"metadata":{"resourceVersion":"500"},"items":[]})"}},  // the audit
      {.chunks = {event("ADDED", "old", "400"), bookmark("500", true)}, .silent = true}};
  world.run(12min);
  CHECK(world.sink.notes.at(0) == "publish 1000 []");
  CHECK(world.sink.notes.at(1) == "publish 500 [old]");
  CHECK(world.watcher.counts().rewinds == 1);
  CHECK(world.asked(1, "limit=1"));
}

TEST_CASE("Watcher looks at the server's versions whenever a stream broke", "[L4]") {
  World world;
  world.wire.answers = {{.chunks = {bookmark("1000", true)}, .breaks = true},
                        {.chunks = {R"({"metadata":{"resourceVersion":"500"},"items":[]})"}},
                        {.chunks = {bookmark("500", true)}, .silent = true}};
  world.run(10s);
  CHECK(world.sink.notes == std::vector<std::string>{"publish 1000 []", "publish 500 []"});
  CHECK(world.asked(1, "limit=1"));
  CHECK(world.asked(2, "sendInitialEvents=true"));
}

TEST_CASE("Watcher waits longer and longer for a server that is away, with jitter", "[L9]") {
  World world;
  for (int i = 0; i < 1000; ++i)
    world.wire.answers.push_back({.error = Error{.code = Errc::kIo, .context = "refused"}});
  world.run(2min);
  // 0.8 s doubling to 30 s, each with up to its own length of jitter: 5 to 10 tries in 2 minutes.
  CHECK(world.wire.asked.size() >= 5);
  CHECK(world.wire.asked.size() <= 10);
}

TEST_CASE("Watcher honours Retry-After", "[L9]") {
  World world;
  world.wire.answers = {
      {.error = Error{.code = Errc::kThrottled, .context = "busy", .retry_after = 40s}},
      {.silent = true}};
  world.run(39s);
  CHECK(world.wire.asked.size() == 1);
}

}  // namespace
}  // namespace amdahl::kube
