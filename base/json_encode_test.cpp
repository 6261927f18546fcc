#include "base/json_encode.hpp"

#include <catch2/catch.hpp>

#include "base/fields_test_types.hpp"
#include "base/json_decode.hpp"

namespace amdahl {
namespace {

using sample::Everything;

TEST_CASE("encode leaves out what is empty and optional, and writes what is required") {
  CHECK(encode(Everything{}).dump() == R"({"name":"","retry":{"attempts":0,"mode":"Fast"}})");
  CHECK(encode(sample::Open{}).dump() == "{}");
}

TEST_CASE("encode tells zero from absent by std::optional") {
  const Everything some{.name = "x", .maybe = 0, .other_retry = sample::Retry{}};
  const Json json = encode(some);
  CHECK(json["maybe"] == 0);
  CHECK(json["otherRetry"] == Json({{"attempts", 0}, {"mode", "Fast"}}));
}

TEST_CASE("encode writes times in the precision the table asks for") {
  const WallTime time{std::chrono::microseconds(1'700'000'000'123'456)};
  const Json json = encode(Everything{.time = time, .micro = time});
  CHECK(json["time"] == "2023-11-14T22:13:20Z");
  CHECK(json["micro"] == "2023-11-14T22:13:20.123456Z");
}

TEST_CASE("encode and decode are inverse", "[C9]") {
  const Everything full{.name = "n",
                        .flag = true,
                        .small = -7,
                        .large = 1LL << 60,
                        .ratio = 0.5,
                        .time = WallTime{std::chrono::seconds(1'700'000'000)},
                        .micro = WallTime{std::chrono::microseconds(1'700'000'000'000'001)},
                        .maybe = 4,
                        .ports = {{"http", 80}, {"x", 65535}},
                        .words = {"a", "\"\\\n\xc3\xa9"},
                        .counts = {{"one", 1}},
                        .labels = {{"b", "2"}, {"a", ""}},
                        .retry = {.attempts = 9, .mode = sample::Mode::kSafe},
                        .other_retry = sample::Retry{.attempts = 1},
                        .mode = sample::Mode::kSafe,
                        .phase = sample::Phase::kRunning};
  const auto back = decode<Everything>(encode(full).dump());
  REQUIRE(back);
  CHECK(*back == full);
}

}  // namespace
}  // namespace amdahl
