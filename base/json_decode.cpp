#include "base/json_decode.hpp"

namespace amdahl::json_detail {
namespace {
constexpr std::size_t kShownBytesMax = 64;
}

bool read_time(JsonValue& from, WallTime& into) {
  const auto text = from.string();
  if (!text) return false;
  const auto time = parse_time(*text);
  if (!time) return from.reject("expected a time such as 2026-11-16T08:00:00Z");
  into = *time;
  return true;
}

bool read_packed_map(JsonValue& from, PackedMap& into) {
  PackedMap::Builder builder;
  const bool ok = from.for_each_member([&](std::string_view key, JsonValue& value) {
    // Go reads a null value as the empty string.
    const auto text = value.is_null() ? std::string_view() : value.string();
    if (!text) return false;
    builder.add(key, *text);
    return true;
  });
  if (ok) into = builder.build();
  return ok;
}

bool reject_enum(JsonValue& from, std::string_view found, std::string_view choices) {
  return from.reject(fmt::format("\"{}\" is not {}", found.substr(0, kShownBytesMax), choices));
}

}  // namespace amdahl::json_detail
