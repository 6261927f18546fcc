#include "base/clock.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdio>

#include "base/check.hpp"

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

std::string format_seconds(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::seconds>(time - day)};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

}  // namespace

void Alarm::ring() {
  rung_ = true;
  if (timer_ != nullptr) timer_->cancel();
}

Alarm::Listening::Listening(Alarm* alarm, asio::steady_timer& timer) : alarm_(alarm) {
  if (alarm_ != nullptr) alarm_->timer_ = &timer;
}

Alarm::Listening::~Listening() {
  if (alarm_ != nullptr) alarm_->timer_ = nullptr;
}

Monotonic RealClock::monotonic() const {
  return std::chrono::steady_clock::now();
}

WallTime RealClock::wall() const {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

Task<bool> RealClock::sleep(Monotonic deadline, Alarm* alarm) {
  if (stopped(co_await asio::this_coro::cancellation_state)) co_return false;
  if (alarm != nullptr && alarm->rung()) co_return false;
  asio::steady_timer timer(co_await asio::this_coro::executor, deadline);
  const Alarm::Listening listening(alarm, timer);
  auto [error] = co_await timer.async_wait(kTuple);
  co_return !error;
}

// Shared by the map and the sleeping task; the timer lives in the task's frame, because it must not
// outlive the io_context.
struct ManualClock::Sleeper {
  asio::steady_timer* timer = nullptr;
  bool due = false;
};

ManualClock::ManualClock(WallTime wall) : wall_(wall) {}

Task<bool> ManualClock::sleep(Monotonic deadline, Alarm* alarm) {
  if (stopped(co_await asio::this_coro::cancellation_state)) co_return false;
  if (alarm != nullptr && alarm->rung()) co_return false;
  if (deadline <= now_) co_return true;
  // A timer that never fires by itself is Asio's condition variable.
  asio::steady_timer timer(co_await asio::this_coro::executor,
                           asio::steady_timer::time_point::max());
  const Alarm::Listening listening(alarm, timer);
  if (deadline == Monotonic::max()) {
    (void)co_await timer.async_wait(kTuple);
    co_return false;
  }
  auto sleeper = std::make_shared<Sleeper>(&timer);
  struct Forget {
    Sleeper& sleeper;
    ~Forget() { sleeper.timer = nullptr; }
  } const forget{*sleeper};
  const auto place = sleepers_.emplace(deadline, sleeper);
  (void)co_await timer.async_wait(kTuple);  // always "cancelled": by advance(), a stop, an alarm
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
    sleeper->due = true;
    if (sleeper->timer) sleeper->timer->cancel();
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
  return fmt::format("{}.{:06}Z", format_seconds(time), (time - second).count());
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
