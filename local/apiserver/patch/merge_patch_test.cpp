#include "local/apiserver/patch/merge_patch.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/patch/test_shapes.hpp"

namespace amdahl::local {

TEST_CASE("Merge patch follows the table of RFC 7386") {
  struct Row {
    const char* document;
    const char* patch;
    const char* result;
  };
  const Row rows[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
      {R"({"a":{"b":1}})", R"({})", R"({"a":{"b":1}})"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.document, row.patch);
    const auto result = apply_merge_patch(Json::parse(row.document), Json::parse(row.patch));
    REQUIRE(result.has_value());
    CHECK(*result == Json::parse(row.result));
  }
}

TEST_CASE("Merge patch refuses a body that is not an object") {
  for (const char* patch : {"[]", "null", "1", R"("x")"}) {
    const auto result = apply_merge_patch(Json::object(), Json::parse(patch));
    REQUIRE_FALSE(result.has_value());
    CHECK(refusal_of(result.error()) == PatchRefusal::kBadRequest);
    CHECK(result.error().context == "Invalid JSON Patch");
  }
}

TEST_CASE("Merge patch refuses what is nested too deep") {
  CHECK(apply_merge_patch(Json::object(), test::nested(kDepthMax)).has_value());
  for (const bool in_patch : {true, false}) {
    const Json deep = test::nested(kDepthMax + 1);
    const auto result = in_patch ? apply_merge_patch(Json::object(), deep)
                                 : apply_merge_patch(deep, Json::object());
    REQUIRE_FALSE(result.has_value());
    CHECK(refusal_of(result.error()) == PatchRefusal::kTooLarge);
  }
}

TEST_CASE("Depth counts levels and stops at the limit") {
  CHECK(depth_of(Json(1)) == 0);
  CHECK(depth_of(Json::parse("[]")) == 1);
  CHECK(depth_of(Json::parse(R"({"a":[{}],"b":1})")) == 3);
  CHECK(depth_of(test::nested(50), 10) == 11);
}

}  // namespace amdahl::local
