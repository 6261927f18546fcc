#include "operator/controller/controller.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <catch2/catch.hpp>

#include "operator/controller/test_controller_bench.hpp"

namespace amdahl::controller {
namespace {
using namespace std::chrono_literals;
using Bench = ControllerBench;
using testkit::key;

TEST_CASE("No worker starts before every source has delivered its first set", "[L14]") {
  Bench bench;
  bench.run([](Bench& b) -> Task<void> {
    b.jobs.add(key("a"));
    b.jobs.publish();
    co_await b.clock.sleep_for(1h);
    CHECK(b.reconciler.calls.empty());
    CHECK_FALSE(b.controller.synced());
    b.pods.publish();
    co_await b.clock.sleep_for(1s);
    CHECK(b.reconciler.names() == std::vector<std::string>{"a"});
  });
}

TEST_CASE("Workers run several keys at once, but never one key twice", "[Q1][Q9]") {
  Bench bench;
  for (int i = 0; i < 20; ++i) bench.reconciler.acts[fmt::format("j{}", i)].takes = 1s;
  bench.run([](Bench& b) -> Task<void> {
    b.sync();
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < 20; ++i) b.jobs.update(key(fmt::format("j{}", i)));
      co_await b.clock.sleep_for(700ms);
    }
    co_await b.clock.sleep_for(60s);
    CHECK(b.reconciler.active_most == 4);
    CHECK_FALSE(b.reconciler.overlap);
    CHECK(b.reconciler.calls.size() >= 20);
  });
}

TEST_CASE("Reconciles that never wait let the loop turn, however many are queued", "[Q9]") {
  Bench bench;
  bench.run([](Bench& b) -> Task<void> {
    constexpr std::size_t kKeys = 1000;
    b.sync();
    co_await b.clock.sleep_for(1s);
    for (std::size_t i = 0; i < kKeys; ++i) b.jobs.add(key(fmt::format("j{}", i)));
    for (int turn = 0; turn < 100 && b.reconciler.calls.empty(); ++turn)
      co_await boost::asio::post(boost::asio::use_awaitable);
    CHECK(b.reconciler.calls.size() > 0);
    CHECK(b.reconciler.calls.size() < kKeys);
    co_await b.clock.sleep_for(1s);
    CHECK(b.reconciler.calls.size() == kKeys);
  });
}

TEST_CASE("A reconcile that throws ends the work on its key and nothing else", "[A1]") {
  Bench bench;
  bench.reconciler.acts["bad"].throws = true;
  bench.reconciler.acts["slow"] = {.takes = 1s, .throws = true};
  bench.run([](Bench& b) -> Task<void> {
    b.sync();
    for (const char* name : {"bad", "slow", "good"}) b.jobs.add(key(name));
    co_await b.clock.sleep_for(1h);
    CHECK(b.reconciler.calls.size() == 3);  // no hot loop
    const std::vector<std::string> told{
        "bad: reconcile ns/bad: exception: a shape that was not foreseen",
        "slow: reconcile ns/slow: exception: a shape that was not foreseen"};
    CHECK(b.reconciler.exceptions == told);
    const std::string scraped = b.registry.render();
    CHECK(scraped.find("amdahl_reconcile_exceptions_total{controller=\"trainingjob\"} 2") !=
          std::string::npos);
    CHECK(scraped.find("amdahl_reconcile_active{controller=\"trainingjob\"} 0") !=
          std::string::npos);
    b.reconciler.acts["bad"] = {};
    b.jobs.update(key("bad"));  // a change is a new chance
    co_await b.clock.sleep_for(1s);
    CHECK(b.reconciler.names().back() == "bad");
    CHECK(b.reconciler.exceptions.size() == 2);
    const std::size_t before = b.reconciler.calls.size();
    co_await b.clock.sleep_for(17h);  // and so is the periodic pass
    CHECK(b.reconciler.calls.size() >= before + 3);
  });
}

TEST_CASE("A failed reconcile is tried again with growing pauses, and success forgets them",
          "[Q5][Q2]") {
  Bench bench;
  bench.reconciler.acts["a"].error = Errc::kUnavailable;
  bench.run([](Bench& b) -> Task<void> {
    b.sync();
    b.jobs.add(key("a"));
    co_await b.clock.sleep_for(5s);
    const auto tries = b.reconciler.calls.size();
    CHECK(tries >= 9);  // 5, 10, 20 ... ms
    CHECK(tries <= 12);
    b.reconciler.acts["a"].error.reset();
    co_await b.clock.sleep_for(10s);
    CHECK(b.reconciler.calls.size() == tries + 1);
    CHECK(b.controller.queue().failures(key("a")) == 0);
  });
  CHECK_THAT(bench.registry.render(),
             Catch::Contains(
                 "amdahl_reconcile_errors_total{code=\"unavailable\",controller=\"trainingjob\"}"));
}

TEST_CASE("A terminal error is not tried again until the spec changes", "[Q5]") {
  Bench bench;
  bench.reconciler.acts["a"].error = Errc::kTerminal;
  bench.run([](Bench& b) -> Task<void> {
    b.sync();
    b.jobs.add(key("a"));
    co_await b.clock.sleep_for(1h);
    CHECK(b.reconciler.calls.size() == 1);
    b.jobs.update(key("a"));
    co_await b.clock.sleep_for(1h);
    CHECK(b.reconciler.calls.size() == 2);
  });
}

TEST_CASE("Waiting is not an error: the key comes back when asked, with no failure counted",
          "[Q5]") {
  Bench bench;
  bench.reconciler.acts["a"].requeue_after = 10s;
  bench.run([](Bench& b) -> Task<void> {
    b.sync();
    b.jobs.add(key("a"));
    co_await b.clock.sleep_for(35s);
    REQUIRE(b.reconciler.calls.size() == 4);
    CHECK(b.reconciler.calls[1].at - b.reconciler.calls[0].at == 10s);
    CHECK(b.controller.queue().failures(key("a")) == 0);
    b.reconciler.acts["a"].requeue_after = 0s;
    b.jobs.update(key("a"));
    co_await b.clock.sleep_for(20ms);
    CHECK(b.reconciler.calls.size() > 10);
    CHECK(b.reconciler.calls.size() <= 26);  // a mistake is no hot loop
  });
}

TEST_CASE("A reconcile that hangs is cut off at its deadline, counted and tried again", "[Q6]") {
  Bench bench;
  bench.reconciler.acts["a"].takes = 24h;
  bench.run([](Bench& b) -> Task<void> {
    b.sync();
    b.jobs.add(key("a"));
    co_await b.clock.sleep_for(59s);
    CHECK(b.reconciler.cancelled == 0);
    co_await b.clock.sleep_for(2s);
    CHECK(b.reconciler.cancelled == 1);
    CHECK(b.reconciler.calls.size() == 2);
    b.reconciler.acts["a"].takes = 0s;
    co_await b.clock.sleep_for(60s);
  });
  CHECK_THAT(bench.registry.render(),
             Catch::Contains("amdahl_reconcile_timeouts_total{controller=\"trainingjob\"} 2"));
}

TEST_CASE("What only touches the status wakes nobody; what a user changes does", "[Q7]") {
  Bench bench;
  bench.run([](Bench& b) -> Task<void> {
    b.sync();
    b.jobs.update(key("a"), /*relevant=*/false);
    co_await b.clock.sleep_for(1s);
    CHECK(b.reconciler.calls.empty());
    b.jobs.update(key("a"), /*relevant=*/true);
    co_await b.clock.sleep_for(1s);
    CHECK(b.reconciler.calls.size() == 1);
    b.jobs.remove(key("a"));
    co_await b.clock.sleep_for(1s);
    CHECK(b.reconciler.calls.size() == 2);
  });
}

TEST_CASE("Every object is looked at again after hours, at different moments, as long as it exists",
          "[Q8]") {
  Bench bench;
  bench.run([](Bench& b) -> Task<void> {
    b.sync();
    for (const char* name : {"a", "b", "c"}) b.jobs.add(key(name));
    co_await b.clock.sleep_for(7h);
    CHECK(b.reconciler.calls.size() == 3);
    co_await b.clock.sleep_for(9h + 1min);
    REQUIRE(b.reconciler.calls.size() == 6);
    CHECK(b.reconciler.calls[3].at != b.reconciler.calls[4].at);
    CHECK(b.reconciler.calls[4].at != b.reconciler.calls[5].at);
    for (const char* name : {"a", "b", "c"}) b.jobs.remove(key(name));
    co_await b.clock.sleep_for(1s);
    CHECK(b.reconciler.calls.size() == 9);
    co_await b.clock.sleep_for(100h);
    CHECK(b.reconciler.calls.size() == 9);
    CHECK(b.controller.queue().known() == 0);
  });
}

TEST_CASE("A user's action overtakes the first list, and a child wakes its owner", "[Q4]") {
  Bench bench;
  bench.reconciler.acts["slow"].takes = 1s;
  bench.run([](Bench& b) -> Task<void> {
    for (int i = 0; i < 100; ++i) {
      b.reconciler.acts[fmt::format("j{}", i)].takes = 1s;
      b.jobs.add(key(fmt::format("j{}", i)), /*is_initial=*/true);
    }
    b.sync();
    co_await b.clock.sleep_for(1500ms);  // eight have begun
    b.pods.add(key("j50-0"), false,
               Owner{.kind = "TrainingJob", .name = "child-owner", .uid = "u"});
    b.pods.add(key("x-0"), false, Owner{.kind = "Job", .name = "stranger", .uid = "u"});
    b.pods.add(key("orphan"), false);
    b.jobs.update(key("user"));
    co_await b.clock.sleep_for(1s);
    const auto names = b.reconciler.names();
    const auto place = [&](std::string_view name) {
      return std::ranges::find(names, name) - names.begin();
    };
    CHECK(place("user") == 8);
    CHECK(place("child-owner") == 9);
    CHECK(std::ranges::count(names, "stranger") == 0);
    co_await b.clock.sleep_for(60s);
  });
}

TEST_CASE("A fenced write ends the controller at once", "[E2]") {
  Bench bench;
  bench.reconciler.acts["a"].error = Errc::kFenced;
  bench.run([](Bench& b) -> Task<void> {
    b.sync();
    b.jobs.add(key("a"));
    co_await b.clock.sleep_for(1s);
    REQUIRE(b.ended);
    REQUIRE_FALSE(*b.ended);
    CHECK(b.ended->error().code == Errc::kFenced);
    b.jobs.update(key("b"));
    co_await b.clock.sleep_for(1s);
    CHECK(b.reconciler.calls.size() == 1);
  });
}

TEST_CASE("Stopping lets the reconciles that run finish and begins no other", "[E4]") {
  Bench bench;
  bench.reconciler.acts["a"].takes = 10s;
  bench.run([](Bench& b) -> Task<void> {
    b.sync();
    b.jobs.add(key("a"));
    co_await b.clock.sleep_for(1s);
    b.controller.stop();
    b.jobs.add(key("b"));
    co_await b.clock.sleep_for(8s);
    CHECK_FALSE(b.ended);
    co_await b.clock.sleep_for(2s);
    REQUIRE(b.ended);
    CHECK(*b.ended);
    CHECK(b.reconciler.cancelled == 0);
    CHECK(b.reconciler.names() == std::vector<std::string>{"a"});
  });
}

}  // namespace
}  // namespace amdahl::controller
