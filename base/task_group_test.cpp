#include "base/task_group.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <catch2/catch.hpp>
#include <stdexcept>

#include "base/deadline.hpp"
#include "base/test_death.hpp"

namespace amdahl {
namespace {
namespace asio = boost::asio;
using namespace std::chrono_literals;

Task<void> note_after(Clock& clock, std::chrono::nanoseconds delay, std::string text,
                      std::vector<std::string>& notes) {
  const bool due = co_await clock.sleep_for(delay);
  notes.push_back(due ? text : text + " stopped");
}

// Ignores the first stop for a while, as a task that must clean up does.
Task<void> linger(Clock& clock, std::chrono::nanoseconds delay) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await clock.sleep_for(1h);
  co_await asio::this_coro::reset_cancellation_state();
  co_await clock.sleep_for(delay);
}

Task<void> await_for_ever(Clock& clock, int& rounds) {
  for (;; ++rounds) co_await clock.sleep_for(1s);
}

Task<bool> stop_and_join(TaskGroup& group, Clock& clock, std::chrono::nanoseconds grace) {
  group.stop();
  co_return co_await group.join(clock, clock.monotonic() + grace);
}

TEST_CASE("TaskGroup runs its tasks and join waits for the last one") {
  ManualClock clock;
  asio::io_context io;
  TaskGroup group(io.get_executor());
  std::vector<std::string> notes;
  group.spawn("slow", note_after(clock, 2s, "slow", notes));
  group.spawn("quick", note_after(clock, 1s, "quick", notes));
  CHECK(group.running() == std::vector<std::string>{"slow", "quick"});
  CHECK(run_simulated(io, clock, group.join(clock, Monotonic::max())));
  CHECK(notes == std::vector<std::string>{"quick", "slow"});
  CHECK(group.empty());
  CHECK(clock.monotonic() == Monotonic{2s});
}

TEST_CASE("TaskGroup begins a task on the next turn, not inside spawn") {
  ManualClock clock;
  asio::io_context io;
  TaskGroup group(io.get_executor());
  std::vector<std::string> notes;
  bool noted_inside_spawn = true;
  asio::post(io, [&] {
    group.spawn("immediate", note_after(clock, 0s, "ran", notes));
    noted_inside_spawn = !notes.empty();
  });
  io.run();
  CHECK_FALSE(noted_inside_spawn);
  CHECK(notes.size() == 1);
}

TEST_CASE("TaskGroup stop reaches every task, and a loop cannot outlive it", "[Q6]") {
  ManualClock clock;
  asio::io_context io;
  TaskGroup group(io.get_executor());
  std::vector<std::string> notes;
  int rounds = 0;
  group.spawn("sleeper", note_after(clock, 1h, "sleeper", notes));
  group.spawn("loop", await_for_ever(clock, rounds));
  io.poll();
  clock.advance(1s);
  CHECK(run_simulated(io, clock, stop_and_join(group, clock, 1s)));
  CHECK(notes == std::vector<std::string>{"sleeper stopped"});
  CHECK(rounds == 2);  // one slept through, one cut short
  CHECK(clock.sleepers() == 0);
  CHECK(clock.monotonic() == Monotonic{1s});
}

// What was started inside needs a while to end, and this task waits for it.
Task<void> clean_up_slowly(Clock& clock, bool& cleaned) {
  co_await asio::this_coro::throw_if_cancelled(false);
  (void)co_await clock.sleep_for(1h);
  co_await asio::this_coro::reset_cancellation_state();
  cleaned = co_await clock.sleep_for(5s);
}

TEST_CASE("A task that cleans up after a stop is not disturbed by another one", "[Q6]") {
  ManualClock clock;
  asio::io_context io;
  TaskGroup group(io.get_executor());
  bool cleaned = false;
  group.spawn("tidy", clean_up_slowly(clock, cleaned));
  io.poll();
  group.stop();
  io.poll();
  CHECK(run_simulated(io, clock, stop_and_join(group, clock, 1min)));
  CHECK(cleaned);
  CHECK(clock.monotonic() == Monotonic{5s});
}

TEST_CASE("TaskGroup never runs a task that was stopped before it began", "[Q6]") {
  ManualClock clock;
  asio::io_context io;
  TaskGroup group(io.get_executor());
  std::vector<std::string> notes;
  group.spawn("early", note_after(clock, 0s, "early", notes));
  group.stop();
  CHECK(group.spawn("late", note_after(clock, 0s, "late", notes)) == 0);
  io.run();
  CHECK(notes.empty());
  CHECK(group.empty());
}

TEST_CASE("TaskGroup stops one task by id") {
  ManualClock clock;
  asio::io_context io;
  TaskGroup group(io.get_executor());
  std::vector<std::string> notes;
  const TaskGroup::Id first = group.spawn("first", note_after(clock, 1s, "first", notes));
  group.spawn("second", note_after(clock, 1s, "second", notes));
  io.poll();
  group.stop(first);
  group.stop(first + 100);
  io.restart();
  io.poll();
  CHECK(group.running() == std::vector<std::string>{"second"});
  CHECK(run_simulated(io, clock, group.join(clock, Monotonic::max())));
  CHECK(notes == std::vector<std::string>{"first stopped", "second"});
}

TEST_CASE("TaskGroup join says no at its deadline and names who still runs", "[Q6]") {
  ManualClock clock;
  asio::io_context io;
  TaskGroup group(io.get_executor());
  group.spawn("stubborn", linger(clock, 1min));
  io.poll();
  CHECK_FALSE(run_simulated(io, clock, stop_and_join(group, clock, 10s)));
  CHECK(clock.monotonic() == Monotonic{10s});
  CHECK(group.running() == std::vector<std::string>{"stubborn"});
  CHECK(run_simulated(io, clock, group.join(clock, Monotonic::max())));
  CHECK(clock.monotonic() == Monotonic{60s});
}

Task<void> stop_own_group(TaskGroup& group, Clock& clock, bool& outlived) {
  group.stop();
  co_await clock.sleep_for(1s);
  outlived = true;
}

TEST_CASE("A task may stop its own group, and goes at its next await", "[Q6]") {
  ManualClock clock;
  asio::io_context io;
  TaskGroup group(io.get_executor());
  bool outlived = false;
  group.spawn("self", stop_own_group(group, clock, outlived));
  io.run();
  CHECK_FALSE(outlived);
  CHECK(group.empty());
}

Task<int> add_later(Clock& clock, int left, int right) {
  co_await clock.sleep_for(1h);
  co_return left + right;
}

Task<int> throw_now() {
  throw std::runtime_error("broken");
  co_return 1;
}

TEST_CASE("run_simulated turns hours into nothing and hands out the result") {
  ManualClock clock;
  asio::io_context io;
  CHECK(run_simulated(io, clock, add_later(clock, 2, 3)) == 5);
  CHECK(run_simulated(io, clock, add_later(clock, 4, 5)) == 9);
  CHECK(clock.monotonic() == Monotonic{2h});
}

TEST_CASE("run_until_complete works with the real clock and passes exceptions on") {
  RealClock clock;
  asio::io_context io;
  std::vector<std::string> notes;
  run_until_complete(io, note_after(clock, 1ms, "done", notes));
  CHECK(notes == std::vector<std::string>{"done"});
  CHECK_THROWS_WITH(run_until_complete(io, throw_now()), "broken");
  ManualClock manual;
  CHECK_THROWS_WITH(run_simulated(io, manual, throw_now()), "broken");
}

Task<void> end_at_once(int& count) {
  ++count;
  co_return;
}

Task<void> break_down() {
  throw std::runtime_error("index out of range");
  co_return;
}

Task<void> wait_for_nobody(Notify& notify, Clock& clock) {
  (void)co_await notify.wait(clock, Monotonic::max());
}

TEST_CASE("TaskGroup stops the process for a bug, and names the task") {
  ManualClock clock;
  const std::string thrown = death_message([] {
    asio::io_context io;
    TaskGroup group(io.get_executor());
    group.spawn("reconcile", break_down());
    io.run();
  });
  CHECK_THAT(thrown, Catch::Contains("task \"reconcile\" ended with: index out of range"));
  const std::string abandoned = death_message([&] {
    asio::io_context io;
    TaskGroup group(io.get_executor());
    std::vector<std::string> notes;
    group.spawn("renewer", note_after(clock, 1s, "x", notes));
  });
  CHECK_THAT(abandoned, Catch::Contains("task \"renewer\" still runs when its group dies"));
}

TEST_CASE("The driving loops stop the process instead of hanging") {
  RealClock real;
  ManualClock manual;
  CHECK_THAT(death_message([&] {
               asio::io_context io;
               run_until_complete(io, linger(real, 1h), {.wall = 5ms});
             }),
             Catch::Contains("did not end within its time limit"));
  CHECK_THAT(death_message([&] {
               asio::io_context io;
               Notify notify(io.get_executor());
               run_simulated(io, manual, wait_for_nobody(notify, manual));
             }),
             Catch::Contains("wait for each other"));
  CHECK_THAT(death_message([&] {
               asio::io_context io;
               int rounds = 0;
               run_simulated(io, manual, await_for_ever(manual, rounds), {.advances_max = 10});
             }),
             Catch::Contains("limit of clock moves"));
}

TEST_CASE("RunningTask ends within start when nothing makes it wait") {
  asio::io_context io;
  int count = 0;
  bool ended = false;
  asio::post(io, [&] {
    const auto task = RunningTask::start(io.get_executor(), end_at_once(count),
                                         [&](const std::exception_ptr& e) { ended = !e; });
    CHECK(task->ended());
    CHECK(ended);
    task->stop();  // too late to matter
  });
  io.run();
  CHECK(count == 1);
}

TEST_CASE("Tasks that still wait are destroyed with the loop, in either order of lifetimes") {
  std::vector<std::string> notes;
  SECTION("the clock lives longer") {
    ManualClock clock;
    asio::io_context io;
    RunningTask::start(io.get_executor(), note_after(clock, 1s, "x", notes), {});
    io.poll();
  }
  SECTION("the loop lives longer") {
    asio::io_context io;
    ManualClock clock;
    RunningTask::start(io.get_executor(), note_after(clock, 1s, "x", notes), {});
    io.poll();
  }
  CHECK(notes.empty());
}

}  // namespace
}  // namespace amdahl
