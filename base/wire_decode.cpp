#include "base/wire_decode.hpp"

#include <fmt/format.h>

namespace amdahl::wire_detail {
namespace {

constexpr std::size_t kShownBytesMax = 64;
// Go's own range of what RFC 3339 can write: years 1 to 9999.
constexpr std::int64_t kTimeSecondsMin = -62'135'596'800;
constexpr std::int64_t kTimeSecondsMax = 253'402'300'799;
constexpr std::int64_t kNanosMax = 999'999'999;

}  // namespace

bool read_time(const WireValue& from, WallTime& into) {
  const auto bytes = from.bytes();
  if (!bytes) return false;
  std::int64_t seconds = 0;
  std::int64_t nanos = 0;
  WireMessage message(*bytes, *from.walk);
  WireValue part;
  while (message.next(part)) {
    if (part.field != 1 && part.field != 2) continue;
    const auto number = part.integer();
    if (!number) return from.walk->in_field(part.field);
    (part.field == 1 ? seconds : nanos) = *number;
  }
  if (from.walk->failed()) return false;
  if (seconds < kTimeSecondsMin || seconds > kTimeSecondsMax || nanos < 0 || nanos > kNanosMax)
    return from.reject("time out of range");
  into = WallTime(std::chrono::seconds(seconds)) + std::chrono::microseconds(nanos / 1000);
  return true;
}

bool read_map_entry(const WireValue& from, PackedMap::Builder& into) {
  const auto bytes = from.bytes();
  if (!bytes) return false;
  std::string_view key;
  std::string_view value;
  WireMessage entry(*bytes, *from.walk);
  WireValue part;
  while (entry.next(part)) {
    if (part.field != 1 && part.field != 2) continue;
    const auto text = part.string();
    if (!text) return from.walk->in_field(part.field);
    (part.field == 1 ? key : value) = *text;
  }
  if (from.walk->failed()) return false;
  into.add(key, value);
  return true;
}

bool reject_enum(const WireValue& from, std::string_view found, std::string_view choices) {
  return from.reject(fmt::format("\"{}\" is not {}", found.substr(0, kShownBytesMax), choices));
}

bool reject_missing(WireWalk& walk, std::string_view name, std::uint32_t number) {
  walk.reject(fmt::format("required field {} is missing", name), Errc::kInvalid);
  return walk.in_field(number);
}

}  // namespace amdahl::wire_detail
