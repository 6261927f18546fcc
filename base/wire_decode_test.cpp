#include "base/wire_decode.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "base/fields_test_types.hpp"
#include "base/test_wire_writer.hpp"

namespace amdahl {
namespace {

using sample::Chain;
using sample::Everything;
using sample::Mode;

WireWriter time_of(std::int64_t seconds, std::int64_t nanos) {
  return WireWriter().integer(1, seconds).integer(2, nanos);
}

std::string full() {
  constexpr std::string_view kHalf("\x29\0\0\0\0\0\0\xe0\x3f", 9);  // field 5, 64 bits, 0.5
  return WireWriter()
      .text(1, "n\xc3\xa9")
      .varint(2, 1)
      .integer(3, -7)
      .integer(4, std::numeric_limits<std::int64_t>::min())
      .raw(kHalf)
      .message(6, time_of(1'700'000'000, 0))
      .message(7, time_of(1'700'000'000, 123'456'789))
      .integer(8, 0)
      .message(9, WireWriter().text(1, "http"))
      .message(9, WireWriter().text(1, "x").varint(2, 65535))
      .text(10, "a")
      .text(10, "")
      .message(11, WireWriter().text(1, "one").integer(2, 1))
      .entry(12, "b", "2")
      .entry(12, "a", "")
      .text(99, "skipped \xff")
      .entry(12, "b", "3")
      .message(13, WireWriter().integer(1, 0))
      .text(15, "Safe")
      .text(16, "Brand new")
      .bytes();
}

std::string error_of(const WireWriter& message) {
  const auto decoded = decode_wire<Everything>(message.bytes());
  return decoded ? "fine" : decoded.error().context;
}

TEST_CASE("decode_wire fills every kind of member and drops the rest", "[L15][C9]") {
  const auto decoded = decode_wire<Everything>(full());
  REQUIRE(decoded);
  const WallTime time{std::chrono::seconds(1'700'000'000)};
  const Everything expected{.name = "n\xc3\xa9",
                            .flag = true,
                            .small = -7,
                            .large = std::numeric_limits<std::int64_t>::min(),
                            .ratio = 0.5,
                            .time = time,
                            .micro = time + std::chrono::microseconds(123'456),
                            .maybe = 0,
                            .ports = {{"http", 80}, {"x", 65535}},
                            .words = {"a", ""},
                            .counts = {{"one", 1}},
                            .labels = {{"a", ""}, {"b", "3"}},
                            .retry = {.attempts = 0, .mode = Mode::kSafe},
                            .mode = Mode::kSafe};
  CHECK(*decoded == expected);
}

TEST_CASE("decode_wire takes an empty time for none and fills defaults") {
  const auto decoded =
      decode_wire<Everything>(WireWriter().text(1, "x").text(7, "").text(6, "").bytes());
  REQUIRE(decoded);
  CHECK_FALSE(decoded->micro);
  CHECK(decoded->time == WallTime{});
  CHECK(decoded->retry == sample::Retry{.attempts = 3, .mode = Mode::kSafe});
}

TEST_CASE("decode_wire says which field is wrong", "[C8]") {
  const WireWriter name = WireWriter().text(1, "x");
  const auto with = [&](const WireWriter& more) { return WireWriter(name).raw(more.bytes()); };
  CHECK(error_of(WireWriter()) == "field 1: required field name is missing");
  CHECK(error_of(WireWriter().integer(1, 5)) == "field 1: expected a length-delimited field");
  CHECK(error_of(WireWriter().text(1, "\xff")) == "field 1: not valid UTF-8");
  CHECK(error_of(with(WireWriter().text(2, "x"))) == "field 2: expected a varint field");
  CHECK(error_of(with(WireWriter().integer(3, 1LL << 31U))) == "field 3: integer out of range");
  CHECK(error_of(with(WireWriter().integer(5, 1))) == "field 5: expected a 64-bit field");
  CHECK(error_of(with(WireWriter().message(6, time_of(1LL << 60U, 0)))) ==
        "field 6: time out of range");
  CHECK(error_of(with(WireWriter().message(6, time_of(0, -1)))) == "field 6: time out of range");
  CHECK(error_of(with(WireWriter().message(9, WireWriter().text(1, "a").text(2, "")))) ==
        "field 9.2: expected a varint field");
  CHECK(error_of(with(WireWriter().message(9, WireWriter()))) ==
        "field 9.1: required field name is missing");
  CHECK(error_of(with(WireWriter().entry(12, "a", "\xc3"))) == "field 12.2: not valid UTF-8");
  // A fault behind a map or a list is not blamed on it.
  CHECK(error_of(with(WireWriter().entry(12, "a", "b").raw("\x10"))) ==
        "field 2: truncated varint");
  CHECK(error_of(with(WireWriter().text(10, "a").raw("\x10"))) == "field 2: truncated varint");
  CHECK(error_of(with(WireWriter().text(15, "Slow"))) ==
        "field 15: \"Slow\" is not one of Fast, Safe");
}

TEST_CASE("decode_wire refuses bytes that are no message", "[C8]") {
  using namespace std::string_view_literals;
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"\x0a"sv, "field 1: truncated varint"},
      {"\x0a\x05"sv
       "abc"sv,
       "field 1: truncated field"},
      {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, "field 1: truncated field"},
      {"\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02"sv, "field 2: varint of more than 64 bits"},
      {"\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"sv,
       "field 2: varint of more than 64 bits"},
      {"\x00"sv, "impossible field number"},
      {"\xfa\xff\xff\xff\xff\xff\x01"sv, "impossible field number"},
      {"\x0b"sv, "field 1: groups and unknown wire types are not supported"},
      {"\x0c"sv, "field 1: groups and unknown wire types are not supported"},
      {"\x0f"sv, "field 1: groups and unknown wire types are not supported"},
      {"\x29\x00\x00\x00"sv, "field 5: truncated number"},
      {"\x2d\x00\x00\x00"sv, "field 5: truncated number"},
  };
  for (const auto& [bytes, expected] : rows) {
    CAPTURE(expected);
    const auto decoded = decode_wire<Everything>(bytes);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code == Errc::kCorrupt);
    CHECK(decoded.error().context == expected);
  }
}

TEST_CASE("decode_wire survives bytes cut and changed everywhere", "[C8]") {
  const std::string bytes = full();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto cut = decode_wire<Everything>(std::string_view(bytes).substr(0, size));
    if (!cut) CHECK_FALSE(cut.error().context.empty());
  }
  std::string changed = bytes;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int value = 0; value < 256; value += 5) {
      changed[at] = static_cast<char>(value);
      const auto decoded = decode_wire<Everything>(changed);
      if (!decoded) CHECK_FALSE(decoded.error().context.empty());
    }
    changed[at] = bytes[at];
  }
  CHECK(decode_wire<Everything>(bytes));
}

TEST_CASE("decode_wire bounds the depth of what it decodes", "[C8]") {
  const auto chain = [](int levels) {
    WireWriter message;
    for (int i = 1; i < levels; ++i) message = WireWriter().message(1, message);
    return decode_wire<Chain>(message.bytes());
  };
  CHECK(chain(64));
  const auto deep = chain(65);
  REQUIRE_FALSE(deep);
  CHECK(deep.error().code == Errc::kTooLarge);
  CHECK_FALSE(chain(2'000));
}

TEST_CASE("decode_wire takes ten thousand labels that are not side by side", "[L15]") {
  WireWriter message = WireWriter().text(1, "x");
  for (int i = 0; i < 10'000; ++i) message.entry(12, "key" + std::to_string(i), "v").varint(2, 1);
  const auto decoded = decode_wire<Everything>(message.bytes());
  REQUIRE(decoded);
  CHECK(decoded->labels.size() == 10'000);
}

}  // namespace
}  // namespace amdahl
