// The string formats that a kube-apiserver checks in custom resources.
//
// Pure; any thread. Unknown names (and "int32", "int64", "float", "double": a 1.34 server does not
// check those either) are kNone and accept everything.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace amdahl::local {

enum class Format : std::uint8_t {
  kNone,
  kByte,
  kCidr,
  kDate,
  kDateTime,
  kDuration,
  kEmail,
  kHexColor,
  kHostname,
  kIpv4,
  kIpv6,
  kLongName,
  kMac,
  kPassword,
  kShortName,
  kUri,
  kUuid,
  kUuid3,
  kUuid4,
  kUuid5,
};

Format format_named(std::string_view name);  // dashes do not count: "date-time", "datetime"
bool has_format(Format format, std::string_view text);

// A point in time that reaches from year 0 to 9999, which nanoseconds in 64 bits do not.
struct Instant {
  std::int64_t seconds = 0;  // since 1970, UTC
  std::int32_t nanos = 0;    // 0 .. 999'999'999
  auto operator<=>(const Instant&) const = default;
};

// The format "duration": Go's, or Scala's words ("3 days").
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);
std::optional<Instant> parse_date(std::string_view text);       // "2026-01-31"
std::optional<Instant> parse_date_time(std::string_view text);  // RFC 3339

}  // namespace amdahl::local
