#include "base/clock.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdio>

#include "base/check.hpp"
#include "base/wakeup.hpp"

namespace amdahl {
namespace asio = boost::asio;
namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

bool stopped(const asio::cancellation_state& state) {
  return state.cancelled() != asio::cancellation_type::none;
}

// Reads exactly `digits` decimal digits at text[at]; -1 when they are not there.
int digits_at(std::string_view text, std::size_t at, std::size_t digits) {
  if (at + digits > text.size()) return -1;
  int value = 0;
  for (const char c : text.substr(at, digits)) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

// "Z" or "+hh:mm": the offset east of UTC.
std::optional<std::chrono::minutes> parse_zone(std::string_view zone) {
  if (zone == "Z" || zone == "z") return std::chrono::minutes{0};
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':') return std::nullopt;
  const int hours = digits_at(zone, 1, 2);
  const int minutes = digits_at(zone, 4, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  const std::chrono::minutes offset{hours * 60 + minutes};
  return zone[0] == '-' ? -offset : offset;
}

void put_digits(std::string& text, std::size_t at, std::size_t digits, std::uint64_t value) {
  for (std::size_t i = at + digits; i-- > at; value /= 10)
    text[i] = static_cast<char>('0' + value % 10);
}

// Up to the seconds, without the zone. By hand: every write of an object carries a few of these.
std::string format_seconds(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::seconds>(time - day)};
  const int year = static_cast<int>(date.year());
  std::string text = "0000-00-00T00:00:00";
  if (year >= 0 && year <= 9999)
    put_digits(text, 0, 4, static_cast<std::uint64_t>(year));
  else
    text.replace(0, 4, std::to_string(year));
  const std::size_t rest = text.size() - 14;  // the month
  put_digits(text, rest, 2, static_cast<unsigned>(date.month()));
  put_digits(text, rest + 3, 2, static_cast<unsigned>(date.day()));
  put_digits(text, rest + 6, 2, static_cast<std::uint64_t>(clock.hours().count()));
  put_digits(text, rest + 9, 2, static_cast<std::uint64_t>(clock.minutes().count()));
  put_digits(text, rest + 12, 2, static_cast<std::uint64_t>(clock.seconds().count()));
  return text;
}

}  // namespace

Monotonic RealClock::monotonic() const {
  return std::chrono::steady_clock::now();
}

WallTime RealClock::wall() const {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

Task<bool> RealClock::sleep_until(Monotonic deadline) {
  if (stopped(co_await asio::this_coro::cancellation_state)) co_return false;
  asio::steady_timer timer(co_await asio::this_coro::executor, deadline);
  auto [error] = co_await timer.async_wait(kTuple);
  co_return !error;
}

namespace {

// Rings once; who no longer waits is not woken.
struct Alarm {
  Wakeup* wakeup = nullptr;
  bool due = false;

  void ring() {
    due = true;
    if (wakeup != nullptr) wakeup->wake();
  }
};

struct Silenced {
  Alarm& alarm;
  ~Silenced() { alarm.wakeup = nullptr; }
};

}  // namespace

Task<bool> RealClock::wait_until(Wakeup& wakeup, Monotonic deadline) {
  if (stopped(co_await asio::this_coro::cancellation_state)) co_return false;
  if (deadline <= monotonic()) co_return true;
  if (deadline == Monotonic::max()) {
    co_await wakeup.wait();
    co_return false;
  }
  const auto alarm = std::make_shared<Alarm>(&wakeup);
  const Silenced silenced{*alarm};
  asio::steady_timer timer(co_await asio::this_coro::executor, deadline);
  timer.async_wait([alarm](const boost::system::error_code& error) {
    if (!error) alarm->ring();
  });
  co_await wakeup.wait();
  co_return alarm->due;
}

// Shared by the map and the sleeping task.
struct ManualClock::Sleeper : Alarm {};

ManualClock::ManualClock(WallTime wall) : wall_(wall) {}

Task<bool> ManualClock::sleep_until(Monotonic deadline) {
  if (stopped(co_await asio::this_coro::cancellation_state)) co_return false;
  if (deadline <= now_) co_return true;
  Wakeup wakeup(co_await asio::this_coro::executor);
  co_return co_await wait_until(wakeup, deadline);
}

Task<bool> ManualClock::wait_until(Wakeup& wakeup, Monotonic deadline) {
  if (stopped(co_await asio::this_coro::cancellation_state)) co_return false;
  if (deadline <= now_) co_return true;
  if (deadline == Monotonic::max()) {
    co_await wakeup.wait();
    co_return false;
  }
  const auto sleeper = std::make_shared<Sleeper>(Alarm{.wakeup = &wakeup});
  const Silenced silenced{*sleeper};
  const auto place = sleepers_.emplace(deadline, sleeper);
  co_await wakeup.wait();
  if (!sleeper->due) sleepers_.erase(place);
  co_return sleeper->due;
}

void ManualClock::advance(std::chrono::nanoseconds step) {
  AMDAHL_CHECK(step >= std::chrono::nanoseconds::zero());
  now_ += step;
  wall_ += std::chrono::floor<std::chrono::microseconds>(step);
  while (!sleepers_.empty() && sleepers_.begin()->first <= now_) {
    const auto sleeper = sleepers_.begin()->second;
    sleepers_.erase(sleepers_.begin());
    sleeper->ring();
  }
}

void ManualClock::jump_wall(std::chrono::microseconds step) {
  wall_ += step;
}

Monotonic ManualClock::next_deadline() const {
  return sleepers_.empty() ? Monotonic::max() : sleepers_.begin()->first;
}

std::string format_time(WallTime time) {
  return format_seconds(time) + "Z";
}

std::string format_micro_time(WallTime time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  std::string text = format_seconds(time) + ".000000Z";
  put_digits(text, text.size() - 7, 6, static_cast<std::uint64_t>((time - second).count()));
  return text;
}

Result<WallTime> parse_time(std::string_view text) {
  const auto bad = [&] {
    return fail(Errc::kInvalid, "\"{}\" is not an RFC 3339 time", text.substr(0, 64));
  };
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':')
    return bad();
  if (text[10] != 'T' && text[10] != 't') return bad();
  const int year = digits_at(text, 0, 4);
  const std::chrono::year_month_day date{
      std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(digits_at(text, 5, 2))},
      std::chrono::day{static_cast<unsigned>(digits_at(text, 8, 2))}};
  const int hour = digits_at(text, 11, 2);
  const int minute = digits_at(text, 14, 2);
  const int second = digits_at(text, 17, 2);
  if (year < 0 || !date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
      second > 60)
    return bad();
  std::size_t at = 19;
  std::int64_t micros = 0;
  if (text[at] == '.') {
    std::int64_t unit = 100'000;
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10)
      micros += (text[at] - '0') * unit;
  }
  const auto zone = parse_zone(text.substr(at));
  if (!zone) return bad();
  return std::chrono::sys_days{date} + std::chrono::hours{hour} + std::chrono::minutes{minute} +
         std::chrono::seconds{second} + std::chrono::microseconds{micros} - *zone;
}

}  // namespace amdahl
