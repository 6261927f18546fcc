#include "base/clock.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

namespace amdahl {
namespace {
using namespace std::chrono_literals;

Task<void> sleep_then_note(ManualClock& clock, Monotonic deadline, int id,
                           std::vector<int>& woken) {
  const bool due = co_await clock.sleep_until(deadline);
  woken.push_back(due ? id : -id);
}

TEST_CASE("ManualClock wakes sleepers in deadline order and only when due") {
  boost::asio::io_context io;
  ManualClock clock;
  std::vector<int> woken;
  for (const int id : {3, 1, 2})
    boost::asio::co_spawn(io, sleep_then_note(clock, clock.monotonic() + id * 1s, id, woken),
                          boost::asio::detached);
  io.poll();
  CHECK(clock.sleepers() == 3);
  CHECK(clock.next_deadline() == Monotonic{1s});
  clock.advance(999ms);
  io.poll();
  CHECK(woken.empty());
  clock.advance(1001ms);
  io.poll();
  CHECK(woken == std::vector{1, 2});
  clock.advance(1h);
  io.poll();
  CHECK(woken == std::vector{1, 2, 3});
}

TEST_CASE("ManualClock forgets a sleeper that was cancelled") {
  boost::asio::io_context io;
  ManualClock clock;
  std::vector<int> woken;
  boost::asio::cancellation_signal stop;
  boost::asio::co_spawn(io, sleep_then_note(clock, clock.monotonic() + 1s, 7, woken),
                        boost::asio::bind_cancellation_slot(stop.slot(), boost::asio::detached));
  io.poll();
  stop.emit(boost::asio::cancellation_type::terminal);
  io.restart();
  io.poll();
  CHECK(clock.sleepers() == 0);
}

Task<void> sleep_with_alarm(Clock& clock, Monotonic deadline, Alarm& alarm,
                            std::vector<bool>& due) {
  due.push_back(co_await clock.sleep(deadline, &alarm));
}

TEST_CASE("An alarm ends the sleep it was given to, and every later one at once") {
  boost::asio::io_context io;
  ManualClock manual;
  RealClock real;
  Clock& clock = GENERATE(false, true) ? static_cast<Clock&>(real) : manual;
  const Monotonic deadline = GENERATE(true, false) ? Monotonic::max() : clock.monotonic() + 1h;
  Alarm alarm;
  std::vector<bool> due;
  const auto sleep = [&] {
    boost::asio::co_spawn(io, sleep_with_alarm(clock, deadline, alarm, due), boost::asio::detached);
    io.restart();
    io.poll();
  };
  sleep();
  CHECK(due.empty());
  alarm.ring();
  alarm.ring();
  io.poll();
  CHECK(due == std::vector{false});
  sleep();
  CHECK(due == std::vector{false, false});
  CHECK(manual.sleepers() == 0);
}

TEST_CASE("An alarm that nobody rings leaves the sleep alone") {
  boost::asio::io_context io;
  ManualClock clock;
  Alarm alarm;
  std::vector<bool> due;
  boost::asio::co_spawn(io, sleep_with_alarm(clock, clock.monotonic() + 1s, alarm, due),
                        boost::asio::detached);
  io.poll();
  clock.advance(1s);
  io.poll();
  CHECK(due == std::vector{true});
  alarm.ring();  // the sleep is over
}

TEST_CASE("A wall clock jump moves no deadline") {
  ManualClock clock;
  const Monotonic before = clock.monotonic();
  const WallTime wall = clock.wall();
  clock.jump_wall(-1h);
  CHECK(clock.monotonic() == before);
  CHECK(clock.wall() == wall - 1h);
}

TEST_CASE("Times are read and written as Kubernetes does") {
  const auto check = [](std::string_view text, std::string_view expected) {
    INFO(text);
    const auto time = parse_time(text);
    REQUIRE(time);
    CHECK(format_micro_time(*time) == expected);
  };
  check("2026-11-16T08:00:00Z", "2026-11-16T08:00:00.000000Z");
  check("2026-11-16T08:00:00.123456Z", "2026-11-16T08:00:00.123456Z");
  check("2026-11-16T08:00:00.5+02:00", "2026-11-16T06:00:00.500000Z");
  check("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z");
  check("2024-02-29T00:00:00.123456789Z", "2024-02-29T00:00:00.123456Z");
  for (const char* bad : {"", "2026-11-16", "2026-13-01T00:00:00Z", "2025-02-29T00:00:00Z",
                          "2026-11-16T24:00:00Z", "2026-11-16T08:00:00", "2026-11-16T08:00:00+2:00",
                          "2026-11-16 08:00:00Z", "x026-11-16T08:00:00Z"}) {
    INFO(bad);
    CHECK_FALSE(parse_time(bad));
  }
  CHECK(format_time(*parse_time("2026-11-16T08:00:00.9Z")) == "2026-11-16T08:00:00Z");
}

}  // namespace
}  // namespace amdahl
