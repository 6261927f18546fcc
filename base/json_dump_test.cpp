#include "base/json_dump.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "base/rng.hpp"

namespace amdahl {
namespace {
using Json = nlohmann::json;

std::string expected(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TEST_CASE("dump_json writes what nlohmann's dump writes") {
  const std::vector<Json> rows = {nullptr,
                                  true,
                                  false,
                                  0,
                                  -1,
                                  std::numeric_limits<std::int64_t>::min(),
                                  std::numeric_limits<std::uint64_t>::max(),
                                  0.1,
                                  1e300,
                                  -2.0,
                                  std::numeric_limits<double>::infinity(),
                                  "",
                                  "plain",
                                  "quote \" backslash \\ slash /",
                                  "line\nfeed\ttab\x01\x1f\x7f",
                                  "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
                                  "broken \xff\xfe utf-8 \xc3",
                                  std::string("zero \0 byte", 11),
                                  Json::array(),
                                  Json::object(),
                                  {1, {2, {3, Json::array()}}},
                                  {{"b", 1}, {"a", {{"key \"q\"", nullptr}}}, {"\xff", {true}}}};
  for (const Json& row : rows) CHECK(dump_json(row) == expected(row));
}

// NOLINTNEXTLINE(misc-no-recursion): at most `depth` deep
Json random_value(Rng& rng, int depth) {
  switch (rng.below(depth > 0 ? 7 : 5)) {
    case 0:
      return rng.below(2) == 0 ? Json(nullptr) : Json(rng.below(2) == 0);
    case 1:
      return static_cast<std::int64_t>(rng.next());
    case 2:
      return rng.next();
    case 3:
      return static_cast<double>(static_cast<std::int64_t>(rng.next())) / 1024.0;
    case 4: {
      std::string text;
      for (std::uint64_t left = rng.below(12); left > 0; --left)
        text += static_cast<char>(rng.below(8) == 0 ? rng.below(256) : 'a' + rng.below(26));
      return text;
    }
    case 5: {
      Json list = Json::array();
      for (std::uint64_t left = rng.below(5); left > 0; --left)
        list.push_back(random_value(rng, depth - 1));
      return list;
    }
    default: {
      Json object = Json::object();
      for (std::uint64_t left = rng.below(5); left > 0; --left)
        object[rng.suffix(3)] = random_value(rng, depth - 1);
      return object;
    }
  }
}

TEST_CASE("dump_json agrees with nlohmann on random trees") {
  Rng rng(20261116);
  for (int number = 0; number < 2'000; ++number) {
    const Json value = random_value(rng, 4);
    REQUIRE(dump_json(value) == expected(value));
  }
}

}  // namespace
}  // namespace amdahl
