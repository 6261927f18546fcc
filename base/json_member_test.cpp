#include "base/json_member.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <vector>

namespace amdahl {
namespace {

TEST_CASE("Members of JSON are read whatever its shape is", "[A1]") {
  for (const char* text :
       {"null", "5", "true", "\"a\"", "[]", "[{\"a\":1}]", "{}", "{\"a\":null}"}) {
    const Json value = Json::parse(text);
    CHECK(member_of(value, "a").is_null());
    CHECK(text_of(value, "a").empty());
  }
  const Json object{{"a", "x"}, {"b", 5}};
  CHECK(text_of(object, "a") == "x");
  CHECK(text_of(object, "b").empty());
  CHECK(member_of(object, "b") == 5);
}

TEST_CASE("drop_nulls takes null members out at every depth, and leaves items of lists", "[A1]") {
  Json value = Json::parse(R"({"a":null,"b":{"c":null,"d":1},"e":[null,{"f":null}],"g":[]})");
  drop_nulls(value);
  CHECK(value == Json::parse(R"({"b":{"d":1},"e":[null,{}],"g":[]})"));
  Json scalar = 5;
  drop_nulls(scalar);
  CHECK(scalar == 5);
}

std::vector<std::string> places(const char* json, std::string_view path) {
  std::vector<std::string> found;
  each_at(Json::parse(json), path, [&](const Json& value, const std::string& place) {
    found.push_back(place + "=" + value.dump());
    return found.size() < 3;
  });
  return found;
}

TEST_CASE("each_at visits every value of a path with its place", "[A1]") {
  using Found = std::vector<std::string>;
  CHECK(places(R"({"a":{"b":1}})", "a.b") == Found{"a.b=1"});
  CHECK(places(R"({"a":[{"b":1},{},{"b":null},{"b":2}]})", "a[].b") ==
        Found{"a[0].b=1", "a[3].b=2"});
  CHECK(places(R"({"x":[1],"y":[null,2]})", "x|y|z[]") == Found{"x[0]=1", "y[0]=null", "y[1]=2"});
  CHECK(places(R"({"a":[1,2,3,4]})", "a[]") == Found{"a[0]=1", "a[1]=2", "a[2]=3"});  // stopped
  for (const char* odd : {"5", "[]", "{\"a\":5}", "{\"a\":null}", "{\"a\":\"b\"}"})
    CHECK(places(odd, "a[].b|c").empty());
}

}  // namespace
}  // namespace amdahl
