#include "base/json_load.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace amdahl {
namespace {
using Json = nlohmann::json;

TEST_CASE("load_json reads what nlohmann's parser reads") {
  const std::vector<std::string> rows = {
      "null",
      "true",
      " false ",
      "0",
      "-0",
      "-1",
      "9223372036854775807",
      "-9223372036854775808",
      "18446744073709551615",
      "1.0",
      "-2.5e-3",
      "1e300",
      R"("")",
      R"("plain text that is longer than what fits inside")",
      R"("\"\\\/\b\f\n\r\t\u0000\u00e9\ud83d\ude00")",
      "[]",
      "{}",
      "[1,[2,[3,[]]],{}]",
      R"({"b":{"d":1,"c":[null,true]},"a":"x","\u0061b":1})",
      "\t{\n\"a\" : [ 1 , 2 ] }\r\n",
  };
  for (const std::string& row : rows) {
    INFO(row);
    const auto loaded = load_json(row);
    REQUIRE(loaded.has_value());
    const Json expected = Json::parse(row);
    CHECK(*loaded == expected);
    CHECK(loaded->type() == (row == "-0" ? Json::value_t::number_unsigned : expected.type()));
    CHECK(loaded->dump() == expected.dump());
  }
}

TEST_CASE("load_json leaves the rest to a parser that says why", "[C8]") {
  const auto nested = [](int levels) {
    return std::string(static_cast<std::size_t>(levels), '[') +
           std::string(static_cast<std::size_t>(levels), ']');
  };
  const std::vector<std::string> rows = {
      "",
      " ",
      "{",
      "{}x",
      "{} {}",
      R"({"a":1,})",
      R"({"a":1,"a":2})",
      R"({"b":1,"a":2,"b":3})",
      R"([{"a":1,"b":2,"a":3}])",
      "nul",
      "01",
      "18446744073709551616",
      "1e400",
      "\"\xff\"",
      "\"\n\"",
      R"("\ud800")",
      nested(kLoadDepthMax + 1),
      '"' + std::string(kLoadBytesMax, 'x') + '"',
  };
  for (const std::string& row : rows) {
    INFO(row.substr(0, 100));
    CHECK_FALSE(load_json(row).has_value());
  }
  CHECK(load_json(nested(kLoadDepthMax - 1)).has_value());
}

}  // namespace
}  // namespace amdahl
