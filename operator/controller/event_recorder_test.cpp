#include "operator/controller/event_recorder.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "base/task_group.hpp"
#include "operator/kube/types.hpp"
#include "tests/kit/memory_server.hpp"

namespace amdahl::controller {
namespace {
using namespace std::chrono_literals;
using testkit::Fault;

constexpr WallTime kWall{std::chrono::seconds{1'700'000'000}};
constexpr Monotonic kStart{};

EventReport report(std::string note, std::string job = "llama", std::string reason = "RankFailed") {
  return {.subject = {.api_version = "amdahl.dev/v1alpha1",
                      .kind = "TrainingJob",
                      .key = {.ns = "research", .name = job},
                      .uid = "uid-" + job},
          .type = EventType::kWarning,
          .reason = std::move(reason),
          .action = "Restart",
          .note = std::move(note)};
}

TEST_CASE("An event that repeats becomes one series with a count", "[E8]") {
  EventAggregator aggregator;
  const auto first = aggregator.take(report("rank 3 died"), kWall, kStart);
  REQUIRE(first);
  CHECK(first->create);
  CHECK(first->count == 1);
  for (int n = 2; n <= 5; ++n) {
    const auto again = aggregator.take(report("rank 3 died"), kWall + n * 1s, kStart + n * 1s);
    REQUIRE(again);
    CHECK_FALSE(again->create);
    CHECK(again->name == first->name);
    CHECK(again->count == n);
    CHECK(again->first == kWall);
    CHECK(again->last == kWall + n * 1s);
  }
  const auto later = aggregator.take(report("rank 3 died"), kWall + 700s, kStart + 700s);
  REQUIRE(later);
  CHECK(later->create);
  CHECK(later->name != first->name);
}

TEST_CASE("More than ten texts of one reason about one object collapse into one event", "[E8]") {
  EventAggregator aggregator;
  std::set<std::string> names;
  for (int i = 0; i < 10; ++i) {
    const auto write = aggregator.take(report(fmt::format("step {}", i)), kWall, kStart);
    REQUIRE(write);
    CHECK(write->create);
    names.insert(write->name);
  }
  CHECK(names.size() == 10);
  const auto eleventh = aggregator.take(report("step 10"), kWall, kStart + 1s);
  const auto twelfth = aggregator.take(report("step 11"), kWall, kStart + 2s);
  REQUIRE(eleventh);
  REQUIRE(twelfth);
  CHECK(eleventh->report.note == "(combined from similar events): step 10");
  CHECK(twelfth->name == eleventh->name);
  CHECK(twelfth->count == 2);

  SECTION("but not with those of another reason or another object") {
    const auto reason = aggregator.take(report("step 12", "llama", "Paused"), kWall, kStart + 3s);
    REQUIRE(reason);
    CHECK(reason->report.note == "step 12");
    const auto object = aggregator.take(report("step 12", "gpt"), kWall, kStart + 3s);
    REQUIRE(object);
    CHECK(object->report.note == "step 12");
  }
  SECTION("and the window ends after ten quiet minutes") {
    const auto later = aggregator.take(report("step 13"), kWall, kStart + 603s);
    REQUIRE(later);
    CHECK(later->report.note == "step 13");
  }
}

TEST_CASE(
    "One object may cause 25 events at once, then one in five minutes; others are not touched",
    "[E8]") {
  EventAggregator aggregator;
  int written = 0;
  for (int i = 0; i < 100; ++i)
    if (aggregator.take(report("again"), kWall, kStart)) ++written;
  CHECK(written == 25);
  CHECK(aggregator.take(report("hello", "gpt"), kWall, kStart));
  CHECK_FALSE(aggregator.take(report("again"), kWall, kStart + 299s));
  const auto next = aggregator.take(report("again"), kWall, kStart + 300s);
  REQUIRE(next);
  CHECK(next->count == 102);  // what was dropped is still counted
}

TEST_CASE("Texts are cut between code points", "[E8]") {
  CHECK(cut_utf8("abc", 3) == "abc");
  CHECK(cut_utf8("abcd", 3) == "abc");
  CHECK(cut_utf8("a\xC3\xA4z", 2) == "a");
  CHECK(cut_utf8("\xF0\x9F\x98\x80", 3).empty());
  EventAggregator aggregator;
  const auto write = aggregator.take(report(std::string(5000, 'x')), kWall, kStart);
  REQUIRE(write);
  CHECK(write->report.note.size() == kNoteBytesMax);
}

struct Bench {
  boost::asio::io_context io;
  ManualClock clock;
  testkit::MemoryServer server{io.get_executor(), clock};
  testkit::MemoryTransport wire{server, clock};
  kube::Client client{wire, clock, Rng(1)};
  MetricsRegistry registry;
  EventMetrics metrics{registry};
  EventRecorder recorder{
      io.get_executor(), client, Rng(2), {"amdahl.dev/operator", "pod-0"}, metrics};

  static Task<void> run_for(Bench& bench, std::chrono::seconds time) {
    TaskGroup group(bench.io.get_executor());
    group.spawn("events", bench.recorder.run());
    co_await bench.clock.sleep_for(time);
    group.stop();
    CHECK(co_await group.join(bench.clock, Monotonic::max()));
  }
  void run(std::chrono::seconds time) { run_simulated(io, clock, run_for(*this, time)); }
};

TEST_CASE("EventRecorder writes events.k8s.io objects beside what they are about", "[E8]") {
  Bench bench;
  bench.recorder.record(report("rank 3 died"));
  bench.recorder.record(report("rank 3 died"));
  EventReport about_node = report("drained");
  about_node.subject.key.ns.clear();
  bench.recorder.record(about_node);
  CHECK(bench.server.writes().empty());  // record() itself sends nothing
  bench.run(1s);
  const auto events = bench.server.list(kube::kEvents);
  REQUIRE(events.size() == 2);
  const Json& event = events[1];
  CHECK(events[0]["metadata"]["namespace"] == "default");
  CHECK(event["metadata"]["namespace"] == "research");
  CHECK(event["regarding"]["uid"] == "uid-llama");
  CHECK(event["regarding"]["apiVersion"] == "amdahl.dev/v1alpha1");
  CHECK(event["reason"] == "RankFailed");
  CHECK(event["action"] == "Restart");
  CHECK(event["type"] == "Warning");
  CHECK(event["reportingController"] == "amdahl.dev/operator");
  CHECK(event["reportingInstance"] == "pod-0");
  CHECK(event["eventTime"] == "2023-11-14T22:13:20.000000Z");
  CHECK(event["series"]["count"] == 2);
  CHECK(bench.metrics.written.value() == 3);
}

TEST_CASE("EventRecorder keeps credentials out of notes", "[E8]") {
  Bench bench;
  bench.recorder.record(report("pull failed: Authorization: Bearer abc.def.ghi"));
  bench.run(1s);
  REQUIRE(bench.server.list(kube::kEvents).size() == 1);
  CHECK_THAT(bench.server.list(kube::kEvents)[0]["note"].get<std::string>(),
             !Catch::Contains("abc.def"));
}

TEST_CASE("EventRecorder drops what does not fit in its queue and counts it", "[E8]") {
  Bench bench;
  for (int i = 0; i < 1200; ++i) bench.recorder.record(report("hello", fmt::format("job-{}", i)));
  CHECK(bench.recorder.waiting() == kEventQueueMax);
  CHECK(bench.metrics.dropped.at(EventDrop::kFull).value() == 200);
}

TEST_CASE("EventRecorder gives up after twelve tries, and at once where no try can help", "[E8]") {
  Bench bench;
  SECTION("a server that is away") {
    bench.wire.broken = true;
    bench.recorder.record(report("lost"));
    bench.run(60s);
    CHECK(bench.recorder.waiting() == 1);
    bench.run(600s);
    CHECK(bench.recorder.waiting() == 0);
    CHECK(bench.metrics.dropped.at(EventDrop::kFailed).value() == 1);
  }
  SECTION("a server that comes back") {
    bench.server.inject(Fault::kDrop, "POST", "events", 5);
    bench.recorder.record(report("late"));
    bench.run(200s);
    CHECK(bench.server.list(kube::kEvents).size() == 1);
  }
  SECTION("an answer that was lost") {
    bench.server.inject(Fault::kLoseAnswer, "POST", "events");
    bench.recorder.record(report("once"));
    bench.run(60s);
    CHECK(bench.server.list(kube::kEvents).size() == 1);
    CHECK(bench.recorder.waiting() == 0);
  }
  SECTION("a series whose event has expired begins anew") {
    bench.recorder.record(report("again"));
    bench.run(1s);
    const Json event = bench.server.list(kube::kEvents).at(0);
    bench.server.remove(kube::kEvents, {.ns = "research", .name = event["metadata"]["name"]});
    bench.recorder.record(report("again"));
    bench.run(1s);
    REQUIRE(bench.server.list(kube::kEvents).size() == 1);
    CHECK(bench.server.list(kube::kEvents)[0]["series"]["count"] == 2);
  }
}

}  // namespace
}  // namespace amdahl::controller
