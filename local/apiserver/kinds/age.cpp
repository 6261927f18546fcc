// Spans of time for people; see table.hpp.
#include <chrono>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/table.hpp"

namespace amdahl::local {

namespace {

using std::chrono::duration_cast;
using std::chrono::seconds;

std::string two(std::int64_t big, char big_unit, std::int64_t small, char small_unit) {
  std::string text = std::to_string(big) + big_unit;
  if (small != 0) text += std::to_string(small) + small_unit;
  return text;
}

}  // namespace

std::string human_duration(std::chrono::microseconds span) {
  const std::int64_t total = duration_cast<seconds>(span).count();
  if (total < -1) return "<invalid>";
  if (total < 0) return "0s";
  if (total < 120) return std::to_string(total) + "s";
  const std::int64_t minutes = total / 60;
  if (minutes < 10) return two(minutes, 'm', total % 60, 's');
  if (minutes < 180) return std::to_string(minutes) + "m";
  const std::int64_t hours = total / 3600;
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return std::to_string(hours) + "h";
  const std::int64_t days = hours / 24;
  if (hours < 192) return two(days, 'd', hours % 24, 'h');
  if (days < 730) return std::to_string(days) + "d";
  if (days < 2920) return two(days / 365, 'y', days % 365, 'd');
  return std::to_string(days / 365) + "y";
}

std::string human_age(std::string_view time, WallTime now) {
  const auto since = parse_time(time);
  return since ? human_duration(now - *since) : "<unknown>";
}

}  // namespace amdahl::local
