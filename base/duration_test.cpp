#include "base/duration.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "base/json_decode.hpp"
#include "base/json_encode.hpp"
#include "base/schema.hpp"
#include "base/validate.hpp"

namespace amdahl {
namespace {

using namespace std::chrono_literals;

struct AutoWord {
  static constexpr std::string_view kName = "Auto";
};

struct Waits {
  Duration grace = {};
  DurationOr<AutoWord> interval = {};
  OptionalDuration limit = {};
  bool operator==(const Waits&) const = default;
};
template <class V>
constexpr void fields(V& v, Waits& waits) {
  v.defaulted("grace", waits.grace, 2min, {.min = 1, .max = 3600});
  v.defaulted("interval", waits.interval, DurationOr<AutoWord>{}, {.min = 10});
  v.defaulted("limit", waits.limit, OptionalDuration{30min}, {.max = 86400});
}

TEST_CASE("parse_go_duration takes what Go takes") {
  const std::pair<std::string_view, std::chrono::nanoseconds> good[] = {
      {"0", 0s},
      {"90s", 90s},
      {"2h", 2h},
      {"1h30m", 90min},
      {"-1.5s", -1500ms},
      {"+3m", 3min},
      {".5m", 30s},
      {"1.h", 1h},
      {"1s1s", 2s},
      {"100ms", 100ms},
      {"7us", 7us},
      {"7\xC2\xB5s", 7us},
      {"9ns", 9ns},
      {"0.0000000001s", 0s},
      {"2562047h47m16.854775807s", std::chrono::nanoseconds::max()},
  };
  for (const auto& [text, span] : good) {
    CAPTURE(text);
    CHECK(parse_go_duration(text) == span);
  }
  for (const char* text : {"", "-", "3", "s", ".s", "1d", "1 s", "1h ", "2562047h47m16.854775808s",
                           "99999999999999999999s", "9223372036854775807h", "3 days", "1e3s"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_go_duration(text));
  }
}

TEST_CASE("format_duration writes whole units, largest first") {
  const std::pair<std::chrono::nanoseconds, std::string_view> rows[] = {
      {0s, "0s"},          {90s, "1m30s"},
      {24h, "24h"},        {90min, "1h30m"},
      {1500ms, "1s500ms"}, {-5s, "-5s"},
      {1ns, "1ns"},        {std::chrono::nanoseconds::min(), "-2562047h47m16s854ms775us808ns"},
  };
  for (const auto& [span, text] : rows) CHECK(format_duration(span) == text);
}

TEST_CASE("Durations are read and written as text, with their words") {
  const auto none = decode<Waits>("{}");
  REQUIRE(none);
  CHECK(encode(*none) == Json::parse(R"({"grace":"2m","interval":"Auto","limit":"30m"})"));
  const auto set = decode<Waits>(R"({"grace":"1.5h","interval":"90s","limit":""})");
  REQUIRE(set);
  CHECK(*set == Waits{.grace = 90min, .interval = 90s, .limit = {}});
  CHECK(encode(*set) == Json::parse(R"({"grace":"1h30m","interval":"1m30s","limit":""})"));
  const std::pair<std::string_view, std::string_view> bad[] = {
      {R"({"grace":"soon"})", R"(grace: not a duration such as "90s" or "1h30m")"},
      {R"({"grace":""})", R"(grace: not a duration such as "90s" or "1h30m")"},
      {R"({"interval":"auto"})", R"(interval: not a duration such as "90s" or "1h30m")"},
      {R"({"limit":"-1s"})", "limit: a duration is not negative"},
      {R"({"grace":90})", "grace: expected a string, found a number"},
  };
  for (const auto& [text, why] : bad) {
    CAPTURE(text);
    const auto read = decode<Waits>(text);
    REQUIRE_FALSE(read);
    CHECK(read.error().context == why);
  }
}

TEST_CASE("Durations have their bounds in the schema, the page and validate") {
  const Json made = schema<Waits>()["properties"];
  const Json grace = made["grace"];
  CHECK(grace["type"] == "string");
  CHECK(grace["default"] == "2m");
  CHECK(grace["maxLength"] == 32);
  CHECK(grace["pattern"] == R"(^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$)");
  CHECK(grace["x-kubernetes-validations"][0]["rule"] ==
        "duration(self) >= duration('1s') && duration(self) <= duration('1h')");
  CHECK(grace["x-kubernetes-validations"][0]["message"] == "must be a duration from 1s to 1h");
  CHECK_FALSE(grace.contains("minimum"));
  CHECK(made["interval"]["x-kubernetes-validations"][0]["rule"] ==
        "self == 'Auto' || duration(self) >= duration('10s')");
  CHECK(made["limit"]["x-kubernetes-validations"][0]["message"] ==
        "must be empty or a duration of at most 24h");
  const std::string page = reference_table<Waits>("Waits");
  CHECK(page.contains("| `grace` | duration from 1s to 1h | `\"2m\"` |"));
  CHECK(page.contains("| `interval` | `Auto` or a duration of at least 10s | `\"Auto\"` |"));
  CHECK(page.contains("| `limit` | duration of at most 24h, or empty | `\"30m\"` |"));

  CHECK(validate(Waits{.grace = 1s}));
  const auto fault = [](const Waits& waits) { return validate(waits).error().context; };
  CHECK(fault({.grace = 500ms}) == "grace: 500ms is less than 1s");
  CHECK(fault({.grace = 2h}) == "grace: 2h is more than 1h");
  CHECK(fault({.grace = 1s, .interval = 1s}) == "interval: 1s is less than 10s");
  CHECK(fault({.grace = 1s, .limit = 25h}) == "limit: 25h is more than 24h");
  CHECK(fault({.grace = 1s, .limit = -1s}) == "limit: -1s is negative");
}

}  // namespace
}  // namespace amdahl
