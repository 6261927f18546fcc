#include "local/apiserver/protobuf/special_forms.hpp"

#include <string>

#include "base/check.hpp"
#include "base/clock.hpp"
#include "local/apiserver/protobuf/body.hpp"

namespace amdahl::local {
namespace {

// The years that RFC 3339 can write.
constexpr std::int64_t kSecondsMin = -62'167'219'200;  // 0000-01-01
constexpr std::int64_t kSecondsMax = 253'402'300'799;  // 9999-12-31
constexpr std::int64_t kNanosMax = 999'999'999;
constexpr std::int64_t kNanosPerMicro = 1'000;

// One field after the other, until one is refused.
template <class Take>
bool each_field(std::string_view bytes, WireWalk& walk, Take take) {
  WireMessage fields(bytes, walk);
  WireValue value;
  while (fields.next(value))
    if (!take(value)) return walk.in_field(value.field);
  return !walk.failed();
}

bool take_integer(const WireValue& value, std::int64_t& into) {
  const auto number = value.integer();
  if (number) into = *number;
  return number.has_value();
}

bool take_text(const WireValue& value, std::string& into) {
  const auto text = value.string();
  if (text) into = *text;
  return text.has_value();
}

bool read_time(std::string_view bytes, WireWalk& walk, bool micro, Json& into) {
  into = nullptr;
  if (bytes.empty()) return true;
  std::int64_t seconds = 0;
  std::int64_t nanos = 0;
  const bool read = each_field(bytes, walk, [&](const WireValue& value) {
    if (value.field == 1) return take_integer(value, seconds);
    return value.field != 2 || take_integer(value, nanos);
  });
  if (!read) return false;
  if (seconds < kSecondsMin || seconds > kSecondsMax || nanos < 0 || nanos > kNanosMax)
    return walk.reject("a time outside of the years 0 to 9999");
  const WallTime time{std::chrono::seconds{seconds} +
                      std::chrono::microseconds{nanos / kNanosPerMicro}};
  into = micro ? format_micro_time(time) : format_time(time);
  return true;
}

bool read_quantity(std::string_view bytes, WireWalk& walk, Json& into) {
  std::string text;
  const bool read = each_field(bytes, walk, [&](const WireValue& value) {
    return value.field != 1 || take_text(value, text);
  });
  into = text.empty() ? "0" : text;
  return read;
}

bool read_int_or_string(std::string_view bytes, WireWalk& walk, Json& into) {
  std::int64_t type = 0;
  std::int64_t number = 0;
  std::string text;
  const bool read = each_field(bytes, walk, [&](const WireValue& value) {
    if (value.field == 1) return take_integer(value, type);
    if (value.field == 2) return take_integer(value, number);
    return value.field != 3 || take_text(value, text);
  });
  if (!read) return false;
  if (type != 0 && type != 1) return walk.reject("neither a number nor a string");
  if (type == 0)
    into = static_cast<std::int32_t>(number);
  else
    into = std::move(text);
  return true;
}

bool read_json(std::string_view bytes, WireWalk& walk, Json& into) {
  std::string_view raw;
  const bool read = each_field(bytes, walk, [&](const WireValue& value) {
    const auto found = value.field == 1 ? value.bytes() : std::string_view();
    if (found && value.field == 1) raw = *found;
    return found.has_value();
  });
  into = nullptr;
  if (!read || raw.empty()) return read;
  bool deep = false;
  into = Json::parse(
      raw,
      [&](int depth, Json::parse_event_t, Json&) {
        deep = deep || depth > static_cast<int>(kProtobufJsonDepthMax);
        return !deep;
      },
      false);
  if (deep) return walk.reject("JSON nested too deeply", Errc::kTooLarge);
  return !into.is_discarded() || walk.reject("not JSON");
}

bool read_strings(std::string_view bytes, WireWalk& walk, Json& into) {
  into = Json::array();
  return each_field(bytes, walk, [&](const WireValue& value) {
    if (value.field != 1) return true;
    if (into.size() == kProtobufValuesMax) return value.reject("too many texts", Errc::kTooLarge);
    std::string text;
    if (!take_text(value, text)) return false;
    into.push_back(std::move(text));
    return true;
  });
}

}  // namespace

bool read_special(ProtoType type, std::string_view bytes, WireWalk& walk, Json& into) {
  switch (type) {
    case ProtoType::kTime:
      return read_time(bytes, walk, false, into);
    case ProtoType::kMicroTime:
      return read_time(bytes, walk, true, into);
    case ProtoType::kQuantity:
      return read_quantity(bytes, walk, into);
    case ProtoType::kIntOrString:
      return read_int_or_string(bytes, walk, into);
    case ProtoType::kJson:
      return read_json(bytes, walk, into);
    case ProtoType::kStrings:
      return read_strings(bytes, walk, into);
    default:
      break;
  }
  AMDAHL_CHECK(false);
  return false;
}

}  // namespace amdahl::local
