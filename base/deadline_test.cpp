#include "base/deadline.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <catch2/catch.hpp>
#include <stdexcept>

#include "base/task_group.hpp"

namespace amdahl {
namespace {
namespace asio = boost::asio;
using namespace std::chrono_literals;

Task<Result<int>> answer_after(Clock& clock, std::chrono::nanoseconds delay, int answer) {
  if (!co_await clock.sleep_for(delay)) co_return fail(Errc::kCancelled, "answer");
  co_return answer;
}

Task<Result<int>> answer_now(int answer) {
  co_return answer;
}

Task<Result<int>> fail_after(Clock& clock, std::chrono::nanoseconds delay, Errc code) {
  co_await clock.sleep_for(delay);
  co_return fail(code, "socket");
}

// Does not look at what the sleep returned; the next await throws because the task was stopped.
Task<Result<int>> careless(Clock& clock) {
  for (;;) co_await clock.sleep_for(1h);
}

Task<Result<int>> broken(Clock& clock) {
  co_await clock.sleep_for(1s);
  throw std::runtime_error("bug");
}

// Needs a while to clean up after it was stopped.
Task<Result<int>> slow_to_stop(Clock& clock, bool& cleaned) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await clock.sleep_for(1h);
  co_await asio::this_coro::reset_cancellation_state();
  co_await clock.sleep_for(5s);
  cleaned = true;
  co_return fail(Errc::kCancelled, "stopped");
}

struct Row {
  const char* what = "";
  std::chrono::nanoseconds deadline{};
  std::function<Task<Result<int>>(Clock&)> task;
  int answer = 0;  // 0: an error
  Errc code = Errc::kInvalid;
  std::chrono::nanoseconds took{};
};

TEST_CASE("with_deadline gives the result in time, or a timeout exactly at the deadline", "[Q6]") {
  const std::vector<Row> rows = {
      {"now", 1s, [](Clock&) { return answer_now(7); }, 7, {}, 0s},
      {"in time", 2s, [](Clock& c) { return answer_after(c, 1s, 8); }, 8, {}, 1s},
      {"late", 2s, [](Clock& c) { return answer_after(c, 3s, 8); }, 0, Errc::kTimeout, 2s},
      {"error", 2s, [](Clock& c) { return fail_after(c, 1s, Errc::kIo); }, 0, Errc::kIo, 1s},
      {"late error", 2s, [](Clock& c) { return fail_after(c, 3s, Errc::kIo); }, 0, Errc::kTimeout,
       2s},
      {"careless", 2s, [](Clock& c) { return careless(c); }, 0, Errc::kTimeout, 2s},
      {"past", 0s, [](Clock&) { return answer_now(7); }, 0, Errc::kTimeout, 0s},
      {"past", -1s, [](Clock& c) { return answer_after(c, 1s, 7); }, 0, Errc::kTimeout, 0s},
      {"no deadline",
       Monotonic::max().time_since_epoch(),
       [](Clock& c) { return answer_after(c, 1000h, 9); },
       9,
       {},
       1000h},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    ManualClock clock;
    asio::io_context io;
    const auto result = run_simulated(
        io, clock, with_deadline(clock, Monotonic{row.deadline}, row.task(clock), "ask"));
    CHECK(result.has_value() == (row.answer != 0));
    if (result) CHECK(*result == row.answer);
    if (!result) CHECK(result.error().code == row.code);
    if (!result && row.code == Errc::kTimeout)
      CHECK(result.error().context.starts_with("ask: deadline passed"));
    CHECK(clock.monotonic() == Monotonic{row.took});
    CHECK(clock.sleepers() == 0);
  }
}

TEST_CASE("with_deadline returns only when the task has ended", "[Q6]") {
  ManualClock clock;
  asio::io_context io;
  bool cleaned = false;
  const auto result = run_simulated(
      io, clock, with_deadline(clock, Monotonic{10s}, slow_to_stop(clock, cleaned), "ask"));
  REQUIRE_FALSE(result);
  CHECK(result.error().code == Errc::kTimeout);
  CHECK(result.error().context == "ask: deadline passed (stopped)");
  CHECK(cleaned);
  CHECK(clock.monotonic() == Monotonic{15s});
}

TEST_CASE("with_deadline passes a bug on") {
  ManualClock clock;
  asio::io_context io;
  CHECK_THROWS_WITH(
      run_simulated(io, clock, with_deadline(clock, Monotonic{10s}, broken(clock), "ask")), "bug");
}

Task<Result<int>> count_sleepers(ManualClock& clock) {
  co_return static_cast<int>(clock.sleepers());
}

TEST_CASE("with_deadline costs no timer when the task does not wait") {
  ManualClock clock;
  asio::io_context io;
  const auto seen =
      run_simulated(io, clock, with_deadline(clock, Monotonic{10s}, count_sleepers(clock), "ask"));
  CHECK(*seen == 0);
  CHECK(clock.sleepers() == 0);
}

// Stores what with_deadline returned, and what a second call says once the task was stopped.
Task<void> ask_twice(Clock& clock, bool throws, std::vector<Errc>& codes) {
  co_await asio::this_coro::throw_if_cancelled(throws);
  for (int i = 0; i < 2; ++i) {
    const auto result =
        co_await with_deadline(clock, Monotonic{1h}, answer_after(clock, 10min, 1), "ask");
    codes.push_back(result ? Errc::kInvalid : result.error().code);
  }
}

TEST_CASE("with_deadline hands cancellation from outside in, and out as a value", "[Q6]") {
  ManualClock clock;
  asio::io_context io;
  TaskGroup group(io.get_executor());
  std::vector<Errc> codes;
  SECTION("a task that wants values gets them from then on") {
    group.spawn("ask", ask_twice(clock, false, codes));
    io.poll();
    group.stop();
    io.poll();
    CHECK(codes == std::vector{Errc::kCancelled, Errc::kCancelled});
  }
  SECTION("a task that wants exceptions gets one at its next await") {
    group.spawn("ask", ask_twice(clock, true, codes));
    io.poll();
    group.stop();
    io.poll();
    CHECK(codes == std::vector{Errc::kCancelled});
  }
  CHECK(group.empty());
  CHECK(clock.sleepers() == 0);
}

TEST_CASE("with_deadline works with the real clock", "[Q6]") {
  RealClock clock;
  asio::io_context io;
  const auto late = run_until_complete(
      io, with_deadline(clock, clock.monotonic() + 5ms, answer_after(clock, 1h, 1), "ask"));
  REQUIRE_FALSE(late);
  CHECK(late.error().code == Errc::kTimeout);
  const auto quick = run_until_complete(
      io, with_deadline(clock, clock.monotonic() + 1h, answer_after(clock, 1ms, 1), "ask"));
  CHECK(*quick == 1);
}

TEST_CASE("with_deadline leaves nothing behind when the loop is destroyed around it") {
  ManualClock clock;
  asio::io_context io;
  std::vector<Errc> codes;
  RunningTask::start(io.get_executor(), ask_twice(clock, true, codes), {});
  io.poll();
  CHECK(codes.empty());
}

Task<void> wait_and_note(Notify& notify, Clock& clock, Monotonic deadline,
                         std::vector<std::string>& notes) {
  const auto result = co_await notify.wait(clock, deadline);
  notes.emplace_back(result ? "notified" : name(result.error().code));
}

TEST_CASE("Notify wakes all who wait, times out the others and remembers nothing", "[Q6]") {
  ManualClock clock;
  asio::io_context io;
  Notify notify(io.get_executor());
  TaskGroup group(io.get_executor());
  std::vector<std::string> notes;
  notify.notify_all();  // nobody waits yet
  group.spawn("early", wait_and_note(notify, clock, Monotonic{1s}, notes));
  group.spawn("late", wait_and_note(notify, clock, Monotonic{10s}, notes));
  group.spawn("ever", wait_and_note(notify, clock, Monotonic::max(), notes));
  io.poll();
  CHECK(notes.empty());
  clock.advance(2s);
  io.poll();
  CHECK(notes == std::vector<std::string>{"timeout"});
  notify.notify_all();
  io.poll();
  CHECK(notes == std::vector<std::string>{"timeout", "notified", "notified"});
  group.spawn("stopped", wait_and_note(notify, clock, Monotonic::max(), notes));
  io.restart();
  io.poll();
  group.stop();
  io.poll();
  CHECK(notes.back() == "cancelled");
  CHECK(group.empty());
}

Task<void> hold(Semaphore& semaphore, Clock& clock, int id, std::vector<int>& order) {
  auto permit = co_await semaphore.acquire(clock, Monotonic{1min});
  if (!permit) {
    order.push_back(-id);
    co_return;
  }
  order.push_back(id);
  co_await clock.sleep_for(1s);
}

TEST_CASE("Semaphore admits its number at a time, in the order of arrival") {
  ManualClock clock;
  asio::io_context io;
  Semaphore semaphore(io.get_executor(), 2);
  TaskGroup group(io.get_executor());
  std::vector<int> order;
  for (int id = 1; id <= 6; ++id) group.spawn("hold", hold(semaphore, clock, id, order));
  io.poll();
  CHECK(order == std::vector{1, 2});
  CHECK(semaphore.waiting() == 4);
  CHECK_FALSE(semaphore.try_acquire());
  CHECK(run_simulated(io, clock, group.join(clock, Monotonic::max())));
  CHECK(order == std::vector{1, 2, 3, 4, 5, 6});
  CHECK(clock.monotonic() == Monotonic{3s});
  CHECK(semaphore.available() == 2);
}

TEST_CASE("Semaphore loses no permit to a waiter that times out or is stopped", "[Q6]") {
  ManualClock clock;
  asio::io_context io;
  Semaphore semaphore(io.get_executor(), 1, 3);
  TaskGroup group(io.get_executor());
  std::vector<int> order;
  auto permit = semaphore.try_acquire();
  REQUIRE(permit);
  group.spawn("times out", hold(semaphore, clock, 1, order));
  group.spawn("times out", hold(semaphore, clock, 2, order));
  const auto stopped = group.spawn("stopped", hold(semaphore, clock, 3, order));
  group.spawn("one too many", hold(semaphore, clock, 4, order));
  io.poll();
  CHECK(order == std::vector{-4});
  SECTION("stopped") {
    group.stop(stopped);
    io.poll();
    CHECK(order == std::vector{-4, -3});
    CHECK(semaphore.waiting() == 2);
  }
  SECTION("stopped in the turn in which it gets the permit") {
    permit->release();
    group.stop();
    io.poll();
    CHECK(order.size() == 4);
    CHECK(semaphore.available() == 1);
  }
  CHECK(run_simulated(io, clock, group.join(clock, Monotonic::max())));
  permit.reset();
  CHECK(semaphore.available() == 1);
  CHECK(semaphore.waiting() == 0);
}

}  // namespace
}  // namespace amdahl
