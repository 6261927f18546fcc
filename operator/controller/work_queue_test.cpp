#include "operator/controller/work_queue.hpp"

#include <malloc.h>

#include <catch2/catch.hpp>
#include <map>

#include "operator/controller/test_queue_bench.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define AMDAHL_TEST_ASAN 1
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif
#endif

namespace amdahl::controller {
namespace {
using namespace std::chrono_literals;
using Bench = QueueBench;

std::size_t allocated_bytes() {
#ifdef AMDAHL_TEST_ASAN
  return __sanitizer_get_current_allocated_bytes();
#else
  return mallinfo2().uordblks;
#endif
}

TEST_CASE("WorkQueue holds a key once however often it is added", "[Q1]") {
  Bench bench;
  for (int i = 0; i < 5; ++i) bench.queue.add(queue_key(1));
  CHECK(bench.queue.depth() == 1);
  CHECK(bench.pop_name() == "job-1");
  CHECK_FALSE(bench.queue.try_pop());
}

TEST_CASE("WorkQueue never hands out a key that somebody works on, and runs it again after",
          "[Q1]") {
  Bench bench;
  bench.queue.add(queue_key(1));
  REQUIRE(bench.pop_name() == "job-1");
  for (int i = 0; i < 3; ++i) bench.queue.add(queue_key(1));
  CHECK_FALSE(bench.queue.try_pop());
  CHECK(bench.queue.depth() == 0);
  bench.queue.done(queue_key(1));
  CHECK(bench.pop_name() == "job-1");
  bench.queue.done(queue_key(1));
  CHECK_FALSE(bench.queue.try_pop());
  CHECK(bench.queue.known() == 0);
}

TEST_CASE("WorkQueue serves a user's action before ten thousand keys of the first list", "[Q4]") {
  Bench bench;
  for (int i = 0; i < 10'000; ++i) bench.queue.add(queue_key(i), Priority::kLow);
  bench.queue.add(queue_key(20'000), Priority::kNormal);
  bench.queue.add(queue_key(30'000), Priority::kHigh);
  CHECK(bench.pop_name() == "job-30000");
  CHECK(bench.pop_name() == "job-20000");
  CHECK(bench.pop_name() == "job-0");
}

TEST_CASE("WorkQueue raises a queued key to the higher priority and never lowers it", "[Q4]") {
  Bench bench;
  for (int i = 0; i < 4; ++i) bench.queue.add(queue_key(i), Priority::kLow);
  bench.queue.add(queue_key(2), Priority::kHigh);
  bench.queue.add(queue_key(3), Priority::kNormal);
  bench.queue.add(queue_key(2), Priority::kLow);
  CHECK(bench.pop_all() ==
        std::vector<std::string>{"ns/job-2", "ns/job-3", "ns/job-0", "ns/job-1"});

  SECTION("also while somebody works on it") {
    bench.queue.add(queue_key(7));
    REQUIRE(bench.pop_name() == "job-7");
    bench.queue.add(queue_key(7), Priority::kLow);
    bench.queue.add(queue_key(8), Priority::kNormal);
    bench.queue.add(queue_key(7), Priority::kHigh);
    bench.queue.done(queue_key(7));
    CHECK(bench.pop_name() == "job-7");
  }
  SECTION("also while it is delayed") {
    bench.queue.add_after(queue_key(9), 1s, Priority::kHigh);
    bench.queue.add(queue_key(1));
    bench.queue.add(queue_key(9), Priority::kLow);
    CHECK(bench.pop_name() == "job-9");
  }
}

TEST_CASE("WorkQueue starves no priority: who was passed over sixteen times is next", "[Q4]") {
  Bench bench;
  for (int i = 0; i < 1000; ++i) bench.queue.add(queue_key(i), Priority::kHigh);
  bench.queue.add(queue_key(5000), Priority::kNormal);
  bench.queue.add(queue_key(6000), Priority::kLow);
  std::map<std::string, int> turn;
  for (int i = 0; i < 40; ++i) turn.emplace(bench.pop_name(), i);
  REQUIRE(turn.contains("job-5000"));
  REQUIRE(turn.contains("job-6000"));
  CHECK(turn["job-5000"] <= 18);
  CHECK(turn["job-6000"] <= 18);
}

TEST_CASE("WorkQueue takes turns between namespaces, so a tenant's flood delays nobody else",
          "[Q4]") {
  Bench bench;
  for (int i = 0; i < 10'000; ++i) bench.queue.add(queue_key(i, "noisy"));
  bench.queue.add(queue_key(1, "quiet"));
  bench.queue.add(queue_key(2, "quiet"));
  bench.queue.add(queue_key(1, ""));  // cluster-scoped keys are one more tenant
  std::vector<std::string> order;
  for (int i = 0; i < 6; ++i) order.push_back(kube::to_string(*bench.queue.try_pop()));
  CHECK(order == std::vector<std::string>{"noisy/job-0", "quiet/job-1", "job-1", "noisy/job-1",
                                          "quiet/job-2", "noisy/job-2"});
}

TEST_CASE("WorkQueue keeps first come, first served within a namespace") {
  Bench bench;
  for (int i = 0; i < 100; ++i) bench.queue.add(queue_key(i));
  for (int i = 0; i < 100; ++i) REQUIRE(bench.pop_name() == queue_key(i).name);
}

TEST_CASE("WorkQueue holds 20,000 keys in less than 4 MB and gives the memory of idle keys back") {
  Bench bench;
  const std::size_t before = allocated_bytes();
  for (int i = 0; i < 20'000; ++i)
    bench.queue.add(
        {.ns = fmt::format("team-{}", i % 50), .name = fmt::format("training-job-{:05}-x7k2p", i)});
  const std::size_t queued = allocated_bytes() - before;
  CHECK(queued < 4'000'000);
  CHECK(bench.queue.depth() == 20'000);
  bench.pop_all();
  CHECK(bench.queue.known() == 0);

  std::size_t most = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 1000; ++i) bench.queue.add(queue_key(i, fmt::format("round-{}", round)));
    bench.pop_all();
    most = std::max(most, allocated_bytes() - before);
  }
  CHECK(most < 4'000'000);  // slots are used again
}

TEST_CASE("WorkQueue refuses keys beyond its bound and says so") {
  struct Counter final : WorkQueueObserver {
    int adds = 0, pops = 0, retries = 0, refused = 0;
    std::chrono::nanoseconds waited{0};
    void on_add(std::size_t) override { ++adds; }
    void on_pop(std::size_t, std::chrono::nanoseconds w) override {
      ++pops;
      waited = w;
    }
    void on_retry() override { ++retries; }
    void on_refused() override { ++refused; }
  } counter;
  boost::asio::io_context io;
  ManualClock clock;
  WorkQueue queue(io.get_executor(), clock, Rng(1), {.keys_max = 3}, &counter);
  for (int i = 0; i < 5; ++i) queue.add(queue_key(i));
  CHECK(queue.depth() == 3);
  CHECK(counter.refused == 2);
  CHECK(counter.adds == 3);
  clock.advance(5s);
  REQUIRE(queue.try_pop() == queue_key(0));
  CHECK(counter.waited == 5s);
  queue.add_rate_limited(queue_key(0));
  CHECK(counter.retries == 1);
}

}  // namespace
}  // namespace amdahl::controller
