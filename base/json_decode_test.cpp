#include "base/json_decode.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "base/fields_test_types.hpp"

namespace amdahl {
namespace {

using sample::Chain;
using sample::Everything;
using sample::Mode;
using sample::Open;
using sample::Phase;

constexpr std::string_view kFull = R"({
  "name": "a\u00e9\"b", "flag": true, "small": -2147483648, "large": 9223372036854775807,
  "ratio": 2.5e-1, "time": "2026-11-16T08:00:00Z", "micro": "2026-11-16T08:00:00.123456Z",
  "maybe": 0, "ports": [{"name": "http"}, {"name": "x", "port": 1}], "words": ["a", ""],
  "counts": {"b": 2, "a": 1}, "labels": {"z": "1", "app.kubernetes.io/name": "llama"},
  "retry": {"attempts": 0}, "mode": "Safe", "phase": "Brand new",
  "ignored": {"deep": [[[{"name": 5}]], null, "x"]}, "otherRetry": null })";

std::string error_of(std::string_view json) {
  const auto decoded = decode<Everything>(json);
  return decoded ? "fine" : decoded.error().context;
}

std::string nested(std::string_view open, std::string_view close, int levels,
                   std::string_view core) {
  std::string text;
  for (int i = 0; i < levels; ++i) text += open;
  text += core;
  for (int i = 0; i < levels; ++i) text += close;
  return text;
}

TEST_CASE("decode fills every kind of member and drops the rest", "[L15]") {
  const auto decoded = decode<Everything>(kFull);
  REQUIRE(decoded);
  const auto time = *parse_time("2026-11-16T08:00:00Z");
  CHECK(decoded->name == "a\xc3\xa9\"b");
  CHECK(decoded->flag);
  CHECK(decoded->small == std::numeric_limits<std::int32_t>::min());
  CHECK(decoded->large == std::numeric_limits<std::int64_t>::max());
  CHECK(decoded->ratio == 0.25);
  CHECK(decoded->time == time);
  CHECK(decoded->micro == time + std::chrono::microseconds(123456));
  CHECK(decoded->maybe == 0);
  CHECK(decoded->ports == std::vector<sample::Port>{{"http", 80}, {"x", 1}});
  CHECK(decoded->words == std::vector<std::string>{"a", ""});
  CHECK(decoded->counts == std::map<std::string, std::int32_t>{{"a", 1}, {"b", 2}});
  CHECK(decoded->labels == PackedMap{{"app.kubernetes.io/name", "llama"}, {"z", "1"}});
  CHECK(decoded->retry == sample::Retry{.attempts = 0, .mode = Mode::kSafe});
  CHECK_FALSE(decoded->other_retry);
  CHECK(decoded->mode == Mode::kSafe);
  CHECK(decoded->phase == Phase::kUnknown);  // an open enum takes what it does not know
}

TEST_CASE("decode gives absent fields their defaults, also in absent nested tables") {
  const auto decoded = decode<Everything>(R"({"name": "x", "otherRetry": {}})");
  REQUIRE(decoded);
  CHECK(decoded->retry == sample::Retry{.attempts = 3, .mode = Mode::kSafe});
  CHECK(decoded->other_retry == sample::Retry{.attempts = 3, .mode = Mode::kSafe});
  CHECK_FALSE(decoded->maybe);
  Everything made;
  apply_defaults(made);
  CHECK(made.retry == sample::Retry{.attempts = 3, .mode = Mode::kSafe});
  CHECK_FALSE(made.other_retry);
}

TEST_CASE("decode says where the fault is and what was expected", "[C8]") {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {R"({})", "name: required field is missing"},
      {R"({"name": null})", "name: required field is missing"},
      {R"({"name": 5})", "name: expected a string, found a number"},
      {R"({"name": {}})", "name: expected a string, found an object"},
      {R"({"name": tru})", "name: expected a string, found a boolean"},
      {R"({"name": nul})", "name: expected a string, found something that is not JSON"},
      {R"({"name": "x", "flag": "true"})", "flag: expected a boolean, found a string"},
      {R"({"name": "x", "flag": truth})", "flag: expected a boolean, found a boolean"},
      {R"({"name": "x", "small": 2147483648})", "small: integer out of range"},
      {R"({"name": "x", "small": "1"})", "small: expected an integer, found a string"},
      {R"({"name": "x", "large": 9223372036854775808})", "large: integer out of range"},
      {R"({"name": "x", "large": 1e3})", "large: expected an integer, found another number"},
      {R"({"name": "x", "large": 1.0})", "large: expected an integer, found another number"},
      {R"({"name": "x", "ratio": 1e999})", "ratio: not a number that can be represented"},
      {R"({"name": "x", "ratio": []})", "ratio: expected a number, found an array"},
      {R"({"name": "x", "time": "yesterday"})",
       "time: expected a time such as 2026-11-16T08:00:00Z"},
      {R"({"name": "x", "ports": [{"name": "a"}, {"name": "b"}, {"name": 1}]})",
       "ports[2].name: expected a string, found a number"},
      {R"({"name": "x", "ports": [{"name": "a"}, {"port": 1}]})",
       "ports[1].name: required field is missing"},
      {R"({"name": "x", "ports": [{"name": "a", "port": -1}]})",
       "ports[0].port: integer out of range"},
      {R"({"name": "x", "ports": {}})", "ports: expected an array, found an object"},
      {R"({"name": "x", "ports": [null]})", "ports[0]: expected an object, found null"},
      {R"({"name": "x", "labels": {"a/b": 1}})",
       "labels[\"a/b\"]: expected a string, found a number"},
      {R"({"name": "x", "counts": {"a": "1"}})", "counts.a: expected an integer, found a string"},
      {R"({"name": "x", "mode": "Slow"})", "mode: \"Slow\" is not one of Fast, Safe"},
      {R"([])", "expected an object, found an array"},
      {R"(5)", "expected an object or an array, found a number"},
  };
  for (const auto& [json, expected] : rows) {
    CAPTURE(json);
    CHECK(error_of(json) == expected);
  }
}

TEST_CASE("decode calls malformed text corrupt", "[C8]") {
  const std::string_view rows[] = {
      "",
      " ",
      "{",
      "}",
      "{\"",
      "{\"name\"",
      "{\"name\":",
      "{\"name\":\"x\"",
      "{\"name\":\"x\",}",
      "{\"name\" \"x\"}",
      "{\"name\":\"x\"}}",
      "{\"name\":\"x\"} {}",
      "{\"name\":\"x\"} x",
      "{'name':'x'}",
      "{\"name\":\"x\\u12\"}",
      "{\"name\":\"x\\q\"}",
      "{\"name\":\"\\ud800\"}",
      "{\"name\":\"\\udc00\"}",
      "{\"name\":\"a\nb\"}",
      "{\"name\":\"\xff\"}",
      "{\"name\":\"x\",\"skipped\":\"\xc3\"}",
      "{\"\\ud800\":1,\"name\":\"x\"}",
      "{\"name\":\"x\",\"ports\":[}",
      "{\"name\":\"x\",\"ports\":[{\"name\":\"a\"]}",
      "{\"name\":\"x\":1}",
      "{name:1}",
      "{\"name\":\"x\",\"skip\":[1,2}",
      "\xef\xbb\xbf",
  };
  for (const std::string_view json : rows) {
    CAPTURE(json);
    const auto decoded = decode<Everything>(json);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code == Errc::kCorrupt);
  }
}

TEST_CASE("decode lets the last of repeated keys win") {
  const auto decoded = decode<Everything>(
      R"({"name":"a","words":["x"],"ports":[{"name":"p","port":9}],"maybe":1,"retry":{"attempts":9},
          "labels":{"k":"1","k":"2"},"maybe":null,"words":["y"],"ports":[{"name":"q"}],"retry":{},
          "n\u0061me":"b"})");
  REQUIRE(decoded);
  CHECK(decoded->name == "b");  // the same key, spelled with an escape
  CHECK(decoded->words == std::vector<std::string>{"y"});
  CHECK(decoded->ports == std::vector<sample::Port>{{"q", 80}});
  CHECK_FALSE(decoded->maybe);
  CHECK(decoded->retry.attempts == 3);
  CHECK(decoded->labels == PackedMap{{"k", "2"}});
}

TEST_CASE("decode bounds the depth of what it decodes, not of what it skips", "[C8]") {
  const auto chain = [](int levels) {
    return decode<Chain>(nested("{\"next\":[", "]}", levels, "{}"));
  };
  CHECK(chain(31));
  const auto deep = chain(32);
  REQUIRE_FALSE(deep);
  CHECK(deep.error().code == Errc::kTooLarge);
  CHECK(deep.error().context.ends_with("nested deeper than 64 levels"));
  for (const auto& [open, close] : {std::pair("[", "]"), std::pair("{\"a\":", "}")}) {
    const std::string core = std::string_view(open) == "[" ? "" : "1";
    const std::string tower = nested(open, close, 10'000, core);
    CHECK(decode<Everything>("{\"name\":\"x\",\"skipped\":" + tower + "}"));
    CHECK_FALSE(decode<Everything>("{\"name\":\"x\",\"skipped\":" + tower));
    CHECK_FALSE(decode<Everything>(nested(open, "", 10'000, "")));
    const auto raw = decode<Open>("{\"raw\":" + tower + "}");
    REQUIRE_FALSE(raw);
    CHECK(raw.error().code == Errc::kTooLarge);
    CHECK(raw.error().context == "raw: nested deeper than 128 levels");
  }
  CHECK(decode<Open>("{\"raw\":" + nested("[", "]", 128, "") + "}"));
}

TEST_CASE("decode keeps free-form members as they are") {
  const auto decoded = decode<Open>(
      R"({"raw": {"b": [1, 2.5, null, "]}"], "a": {"\u0061": true}}, "patches": [1, "x", {"y": []}, null]})");
  REQUIRE(decoded);
  CHECK(decoded->raw.dump() == R"({"a":{"a":true},"b":[1,2.5,null,"]}"]})");
  REQUIRE(decoded->patches.size() == 4);
  CHECK(decoded->patches[2].dump() == R"({"y":[]})");
  CHECK(decoded->patches[3].is_null());
  for (const std::string_view bad :
       {R"({"raw":{"a":nil}})", R"({"raw":{"a" 1}})", R"({"raw":[1 2]})"}) {
    CAPTURE(bad);
    const auto refused = decode<Open>(bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::kCorrupt);
  }
}

TEST_CASE("decode survives text cut at every byte", "[C8]") {
  JsonReader reader;
  for (std::size_t size = 0; size < kFull.size(); ++size) {
    const auto cut = decode<Everything>(reader, kFull.substr(0, size));
    CAPTURE(size);
    CHECK(cut.has_value() == false);
  }
  CHECK(decode<Everything>(reader, kFull));
}

TEST_CASE("decode survives every byte changed", "[C8]") {
  JsonReader reader;
  std::string text(kFull);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char before = text[at];
    for (const char c : {'\0', '"', '\\', '{', '}', ']', ',', ':', '0', 'n', '\x80'}) {
      text[at] = c;
      const auto decoded = decode<Everything>(reader, text);
      if (!decoded) CHECK_FALSE(decoded.error().context.empty());
    }
    text[at] = before;
  }
  CHECK(decode<Everything>(reader, text));
}

TEST_CASE("decode takes ten thousand labels", "[L15]") {
  std::string json = R"({"name":"x","labels":{)";
  for (int i = 0; i < 10'000; ++i)
    json += fmt::format("{}\"key{}\":\"{}\"", i == 0 ? "" : ",", i, i);
  const auto decoded = decode<Everything>(json + "}}");
  REQUIRE(decoded);
  CHECK(decoded->labels.size() == 10'000);
  CHECK(decoded->labels.find("key9999") == "9999");
}

TEST_CASE("JsonReader reads in place when the padding is there, whatever it holds") {
  JsonReader reader;
  for (const char padding : {'}', ']', ',', '"', '{', '\0', '5'}) {
    std::string buffer = R"({"name":"x"})";
    const std::size_t size = buffer.size();
    buffer.append(kJsonPadding, padding);
    Everything into;
    const auto read = [&](std::size_t bytes) {
      return reader.read_padded(std::string_view(buffer).substr(0, bytes),
                                [&](JsonValue& root) { return read_json(root, into); });
    };
    CAPTURE(padding);
    CHECK(read(size));
    CHECK_FALSE(read(size - 1));
    CHECK_FALSE(read(size - 2));
  }
}

TEST_CASE("JsonReader refuses text over its bound and stays usable", "[C8]") {
  JsonReader reader;
  const std::string huge(kJsonBytesMax + 1, ' ');
  const auto refused = reader.read(huge, [](JsonValue&) { return true; });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::kTooLarge);
  CHECK(reader.read(std::string(R"({"a":1})"), [](JsonValue&) { return true; }));
}

TEST_CASE("JsonReader streams a list and stops where a callback says so") {
  JsonReader reader;
  std::vector<std::string> raws;
  const auto walk = [&](std::string_view json, std::size_t limit) {
    raws.clear();
    return reader.read(json, [&](JsonValue& root) {
      return root.for_each_member([&](std::string_view key, JsonValue& value) {
        if (key != "items") return true;
        return value.for_each_element([&](JsonValue& item) {
          if (raws.size() == limit) return item.reject("enough");
          const auto raw = item.raw();
          if (raw) raws.emplace_back(*raw);
          return raw.has_value();
        });
      });
    });
  };
  const std::string_view json =
      R"({"kind":"L","items":[ {"a": [1,2]} , [], "s\"x" ,-1 ,{} ],"z":1})";
  CHECK(walk(json, 9));
  CHECK(raws == std::vector<std::string>{R"({"a": [1,2]})", "[]", R"("s\"x")", "-1", "{}"});
  const auto stopped = walk(json, 1);
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().context == "items[1]: enough");
}

TEST_CASE("has_wire is true only when every field has a number", "[C9]") {
  STATIC_REQUIRE(has_wire<Everything>);
  STATIC_REQUIRE(has_wire<sample::Port>);
  STATIC_REQUIRE_FALSE(has_wire<Open>);
  STATIC_REQUIRE_FALSE(has_wire<int>);
  STATIC_REQUIRE(field_count<Everything> == 16);
}

}  // namespace
}  // namespace amdahl
