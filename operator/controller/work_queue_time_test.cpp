// The work queue and time: delays, retries, and the worker that waits.
#include <boost/asio/this_coro.hpp>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/task_group.hpp"
#include "operator/controller/test_queue_bench.hpp"

namespace amdahl::controller {
namespace {
using namespace std::chrono_literals;
using Bench = QueueBench;

TEST_CASE("WorkQueue lets a delay that ends during the work count as an add", "[Q1][Q3]") {
  Bench bench;
  bench.queue.add(queue_key(1));
  REQUIRE(bench.pop_name() == "job-1");
  bench.queue.add_after(queue_key(1), 1s);
  bench.clock.advance(2s);
  CHECK_FALSE(bench.queue.try_pop());
  bench.queue.done(queue_key(1));
  CHECK(bench.pop_name() == "job-1");
}

TEST_CASE("WorkQueue keeps the earliest deadline of a key", "[Q3]") {
  Bench bench;
  bench.queue.add_after(queue_key(1), 10s);
  bench.queue.add_after(queue_key(1), 3s);
  bench.queue.add_after(queue_key(1), 7s);
  CHECK(bench.queue.next_due() == bench.clock.monotonic() + 3s);
  bench.clock.advance(2999ms);
  CHECK_FALSE(bench.queue.try_pop());
  bench.clock.advance(1ms);
  CHECK(bench.pop_name() == "job-1");
  bench.queue.done(queue_key(1));
  bench.clock.advance(1h);
  CHECK_FALSE(bench.queue.try_pop());
}

TEST_CASE("WorkQueue lets an immediate add override a delay", "[Q3]") {
  Bench bench;
  bench.queue.add_after(queue_key(1), 1h);
  bench.queue.add(queue_key(1));
  CHECK(bench.pop_name() == "job-1");
  bench.queue.done(queue_key(1));
  CHECK(bench.queue.next_due() == Monotonic::max());
  bench.queue.add(queue_key(2));
  bench.queue.add_after(queue_key(2), 1h);  // runs sooner anyway
  CHECK(bench.pop_name() == "job-2");
  bench.queue.done(queue_key(2));
  CHECK(bench.queue.known() == 0);
}

TEST_CASE("WorkQueue gives delayed keys back in the order of their deadlines", "[Q3]") {
  Bench bench;
  Rng rng(7);
  std::multimap<std::int64_t, std::string> expected;
  for (int i = 0; i < 500; ++i) {
    const auto ms = static_cast<std::int64_t>(1 + rng.below(100'000));
    bench.queue.add_after(queue_key(i), std::chrono::milliseconds{ms});
    if (rng.chance(0.3)) {  // leaves the heap from the middle
      bench.queue.add(queue_key(i));
      REQUIRE(bench.queue.try_pop() == queue_key(i));
      bench.queue.done(queue_key(i));
    } else {
      expected.emplace(ms, queue_key(i).name);
    }
  }
  std::int64_t last_ms = 0;
  for (auto due = bench.queue.next_due(); due != Monotonic::max(); due = bench.queue.next_due()) {
    bench.clock.advance(due - bench.clock.monotonic());
    const auto popped = bench.queue.try_pop();
    REQUIRE(popped);
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                        bench.clock.monotonic().time_since_epoch())
                        .count();
    REQUIRE(ms >= last_ms);
    const auto [first, last] = expected.equal_range(ms);
    const auto found = std::find_if(first, last, [&](auto& e) { return e.second == popped->name; });
    REQUIRE(found != last);
    expected.erase(found);
    last_ms = ms;
    bench.queue.done(*popped);
    while (const auto tied = bench.queue.try_pop()) {
      std::erase_if(expected, [&](auto& e) { return e.second == tied->name; });
      bench.queue.done(*tied);
    }
  }
  CHECK(expected.empty());
  CHECK(bench.queue.known() == 0);
}

TEST_CASE("WorkQueue doubles a key's backoff from 5 ms up to 2 min, and never beyond", "[Q2]") {
  Bench bench;
  bench.queue.add(queue_key(2));
  REQUIRE(bench.pop_name() == "job-2");
  double nominal_ms = 5;
  for (std::uint32_t failure = 1; failure <= 25; ++failure) {
    INFO(failure);
    bench.queue.add_rate_limited(queue_key(2));
    bench.queue.done(queue_key(2));
    const std::chrono::duration<double, std::milli> delay =
        bench.queue.next_due() - bench.clock.monotonic();
    CHECK(bench.queue.failures(queue_key(2)) == failure);
    CHECK(delay.count() <= nominal_ms);
    CHECK(delay.count() >= nominal_ms * 0.8 - 0.001);
    bench.clock.advance(bench.queue.next_due() - bench.clock.monotonic());
    REQUIRE(bench.pop_name() == "job-2");
    nominal_ms = std::min(nominal_ms * 2, 120'000.0);
  }
  bench.queue.forget(queue_key(2));
  bench.queue.add_rate_limited(queue_key(2));
  CHECK(bench.queue.next_due() - bench.clock.monotonic() <= 5ms);
}

TEST_CASE(
    "WorkQueue spreads retries of many keys by one bucket, but makes nobody wait longer than 2 min",
    "[Q2]") {
  Bench bench;
  const Monotonic start = bench.clock.monotonic();
  std::map<std::int64_t, int> due_by_second;
  for (int i = 0; i < 400; ++i) bench.queue.add_rate_limited(queue_key(i));
  int within_a_second = 0;
  int popped = 0;
  for (auto due = bench.queue.next_due(); due != Monotonic::max(); due = bench.queue.next_due()) {
    bench.clock.advance(due - bench.clock.monotonic());
    while (const auto next = bench.queue.try_pop()) {
      ++popped;
      if (bench.clock.monotonic() - start <= 1s) ++within_a_second;
    }
  }
  CHECK(popped == 400);
  CHECK(within_a_second == 110);  // the burst, and ten more
  CHECK(bench.clock.monotonic() - start == 30s);

  Bench flooded;
  for (int i = 0; i < 20'000; ++i) flooded.queue.add_rate_limited(queue_key(i, "noisy"));
  flooded.queue.add_rate_limited(queue_key(0, "other"));
  flooded.clock.advance(2min);
  std::set<std::string> other;
  while (const auto next = flooded.queue.try_pop())
    if (next->ns == "other") other.insert(next->name);
  CHECK(other.size() == 1);
}

TEST_CASE("WorkQueue does not limit what is not a retry", "[Q2]") {
  Bench bench;
  for (int i = 0; i < 5000; ++i) bench.queue.add(queue_key(i));
  CHECK(bench.pop_all().size() == 5000);
}

Task<void> pop_into(WorkQueue& queue, std::vector<std::string>& into) {
  for (;;) {
    const auto popped = co_await queue.pop();
    if (!popped) {
      into.emplace_back(name(popped.error().code));
      co_return;
    }
    into.push_back(popped->name);
    queue.done(*popped);
  }
}

Task<void> feed(ManualClock& clock, WorkQueue& queue) {
  queue.add_after(queue_key(1), 10s);
  co_await clock.sleep_for(1s);
  queue.add(queue_key(2));
  co_await clock.sleep_for(1s);
  queue.add_after(queue_key(3), 1s);  // sooner than what the sleeper waits for
  co_await clock.sleep_for(20s);
  queue.close();
}

Task<void> feed_and_pop(ManualClock& clock, WorkQueue& queue, std::vector<std::string>& into) {
  TaskGroup group(co_await boost::asio::this_coro::executor);
  group.spawn("pop", pop_into(queue, into));
  co_await feed(clock, queue);
  CHECK(co_await group.join(clock, Monotonic::max()));
}

TEST_CASE("WorkQueue wakes a waiting worker at the right moment and lets it go when closed",
          "[Q3]") {
  Bench bench;
  std::vector<std::string> got;
  run_simulated(bench.io, bench.clock, feed_and_pop(bench.clock, bench.queue, got));
  CHECK(got == std::vector<std::string>{"job-2", "job-3", "job-1", "cancelled"});
}

Task<void> stop_waiting(ManualClock& clock, WorkQueue& queue, std::vector<std::string>& into) {
  TaskGroup group(co_await boost::asio::this_coro::executor);
  group.spawn("pop", pop_into(queue, into));
  co_await clock.sleep_for(1s);
  group.stop();
  CHECK(co_await group.join(clock, clock.monotonic() + 1s));
}

TEST_CASE("WorkQueue lets a cancelled worker go") {
  Bench bench;
  std::vector<std::string> got;
  run_simulated(bench.io, bench.clock, stop_waiting(bench.clock, bench.queue, got));
  CHECK(bench.clock.monotonic().time_since_epoch() == 1s);
}

}  // namespace
}  // namespace amdahl::controller
