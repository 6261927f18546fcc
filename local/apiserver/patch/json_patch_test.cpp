#include "local/apiserver/patch/json_patch.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "local/apiserver/patch/json_pointer.hpp"
#include "local/apiserver/patch/test_shapes.hpp"

namespace amdahl::local {
namespace {

Result<Json> patched(const char* document, const char* operations) {
  return apply_json_patch(Json::parse(document), Json::parse(operations));
}

}  // namespace

TEST_CASE("JSON patch applies every operation") {
  struct Row {
    const char* document;
    const char* operations;
    const char* result;
  };
  const Row rows[] = {
      {R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
      {R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
      {R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2,3]})"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])", R"({"a":[1,2]})"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2]})"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/-1","value":2}])", R"({"a":[1,2]})"},
      {R"({"a":1})", R"([{"op":"add","path":"/b"}])", R"({"a":1,"b":null})"},
      {R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])", R"({"b":2})"},
      {R"({"a":[1,2,3]})", R"([{"op":"remove","path":"/a/1"}])", R"({"a":[1,3]})"},
      {R"({"a":[1,2,3]})", R"([{"op":"remove","path":"/a/-1"}])", R"({"a":[1,2]})"},
      {R"({"a":1})", R"([{"op":"replace","path":"/a","value":{"x":[]}}])", R"({"a":{"x":[]}})"},
      {R"({"a":1})", R"([{"op":"replace","path":"/b","value":2}])", R"({"a":1,"b":2})"},
      {R"({"a":[1,2]})", R"([{"op":"replace","path":"/a/1","value":9}])", R"({"a":[1,9]})"},
      {R"({"a":1})", R"([{"op":"replace","path":"","value":{"b":2}}])", R"({"b":2})"},
      {R"({"a":{"b":1}})", R"([{"op":"move","from":"/a/b","path":"/c"}])", R"({"a":{},"c":1})"},
      {R"({"a":[1,2,3]})", R"([{"op":"move","from":"/a/0","path":"/a/2"}])", R"({"a":[2,3,1]})"},
      {R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/c"}])",
       R"({"a":{"b":1},"c":{"b":1}})"},
      {R"({"a":1})", R"([{"op":"copy","from":"/x","path":"/b"}])", R"({"a":1,"b":null})"},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":1}])", R"({"a":1})"},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":1.0}])", R"({"a":1})"},
      {R"({"a":1})", R"([{"op":"test","path":"/b","value":null}])", R"({"a":1})"},
      {R"({"a":1})", R"([{"op":"test","path":"","value":{"a":1}}])", R"({"a":1})"},
      {R"({"a/b":1,"m~n":2,"":3})",
       R"([{"op":"remove","path":"/a~1b"},{"op":"remove","path":"/m~0n"},{"op":"remove","path":"/"}])",
       R"({})"},
      {R"({"~1":1})", R"([{"op":"remove","path":"/~01"}])", R"({})"},
      {R"({"a":1})", R"([])", R"({"a":1})"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.document, row.operations);
    const auto result = patched(row.document, row.operations);
    REQUIRE(result.has_value());
    CHECK(*result == Json::parse(row.result));
  }
}

TEST_CASE("JSON patch tells a malformed patch from one that does not apply") {
  struct Row {
    const char* operations;
    PatchRefusal refusal;
    const char* text;
  };
  constexpr auto kBad = PatchRefusal::kBadRequest;
  constexpr auto kNo = PatchRefusal::kUnprocessable;
  const Row rows[] = {
      {R"({"op":"add"})", kBad, "a JSON patch is a list of operations"},
      {R"(["x"])", kBad, "an operation is not an object"},
      {R"([{"op":1,"path":"/a"}])", kBad, "\"op\" of an operation is not a string"},
      {R"([{"op":"add","path":7}])", kBad, "\"path\" of an operation is not a string"},
      {R"([{"op":"spin","path":"/a"}])", kNo, "Unexpected kind: spin"},
      {R"([{"path":"/a"}])", kNo, "Unexpected kind: unknown"},
      {R"([{"op":"add","value":1}])", kNo, "add operation failed to decode path: missing value"},
      {R"([{"op":"move","path":"/b"}])", kNo, "move operation failed to decode from"},
      {R"([{"op":"add","path":"/x/y","value":1}])", kNo,
       "add operation does not apply: doc is missing path: \"/x/y\": missing value"},
      {R"([{"op":"add","path":"","value":{}}])", kNo, "doc is missing path: \"\""},
      {R"([{"op":"add","path":"a","value":{}}])", kNo, "doc is missing path: \"a\""},
      {R"([{"op":"add","path":"/a/b","value":1}])", kNo, "doc is missing path: \"/a/b\""},
      {R"([{"op":"add","path":"/l/3","value":1}])", kNo,
       "error in add for path: '/l/3': Unable to access invalid index: 3"},
      {R"([{"op":"add","path":"/l/x","value":1}])", kNo, "value was not a proper array index: 'x'"},
      {R"([{"op":"remove","path":"/x"}])", kNo,
       "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value"},
      {R"([{"op":"remove","path":"/l/2"}])", kNo, "Unable to access invalid index: 2"},
      {R"([{"op":"remove","path":"/l/-3"}])", kNo, "Unable to access invalid index: -3"},
      {R"([{"op":"remove","path":"/l/99999999999999999999"}])", kNo, "not a proper array index"},
      {R"([{"op":"replace","path":"/l/2","value":1}])", kNo,
       "replace operation does not apply: doc is missing key: /l/2: missing value"},
      {R"([{"op":"replace","path":"","value":1}])", kNo, "value must be object or array"},
      {R"([{"op":"move","from":"/o","path":"/o/p"}])", kNo, "missing destination path: \"/o/p\""},
      {R"([{"op":"copy","from":"/x/y","path":"/z"}])", kNo, "missing from path: \"/x/y\""},
      {R"([{"op":"test","path":"/a","value":2}])", kNo, "testing value /a failed: test failed"},
      {R"([{"op":"test","path":"/x","value":2}])", kNo, "testing value /x failed: test failed"},
      {R"([{"op":"test","path":"/a"}])", kNo, "testing value /a failed: test failed"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.operations);
    const auto result = patched(R"({"a":1,"l":[1,2],"o":{}})", row.operations);
    REQUIRE_FALSE(result.has_value());
    CHECK(refusal_of(result.error()) == row.refusal);
    CHECK_THAT(result.error().context, Catch::Contains(row.text));
  }
}

TEST_CASE("JSON patch bounds the number of operations") {
  Json operations = Json::array();
  const Json test = Json::parse(R"({"op":"test","path":"/a","value":1})");
  for (std::size_t i = 0; i < kJsonPatchOperationsMax; ++i) operations.push_back(test);
  const Json document = Json::parse(R"({"a":1})");
  CHECK(apply_json_patch(document, operations).has_value());
  operations.push_back(test);
  const auto result = apply_json_patch(document, operations);
  REQUIRE_FALSE(result.has_value());
  CHECK(refusal_of(result.error()) == PatchRefusal::kTooLarge);
  CHECK(result.error().context ==
        "The allowed maximum operations in a JSON patch is 10000, got 10001");
}

TEST_CASE("JSON patch bounds what copies add") {
  Json document = Json::object();
  document["a"] = std::string(1'000'000, 'x');
  Json operations = Json::array();
  for (const char* path : {"/b", "/c", "/d"}) {
    CHECK(apply_json_patch(document, operations).has_value());
    operations.push_back({{"op", "copy"}, {"from", "/a"}, {"path", path}});
  }
  CHECK(apply_json_patch(document, operations).has_value());
  operations.push_back({{"op", "copy"}, {"from", "/a"}, {"path", "/e"}});
  const auto result = apply_json_patch(document, operations);
  REQUIRE_FALSE(result.has_value());
  CHECK(refusal_of(result.error()) == PatchRefusal::kUnprocessable);
  CHECK_THAT(result.error().context, Catch::Contains("exceeding the limit 3145728"));
}

TEST_CASE("JSON patch bounds the depth of what it makes") {
  // Each copy puts the object into itself, one level deeper.
  Json operations = Json::array();
  for (std::size_t i = 0; i < kDepthMax; ++i) {
    if (i == kDepthMax / 2)
      CHECK(apply_json_patch(Json::parse(R"({"a":{"c":{}}})"), operations).has_value());
    operations.push_back({{"op", "copy"}, {"from", "/a"}, {"path", "/a/b"}});
  }
  const auto result = apply_json_patch(Json::parse(R"({"a":{"c":{}}})"), operations);
  REQUIRE_FALSE(result.has_value());
  CHECK(refusal_of(result.error()) == PatchRefusal::kTooLarge);
  Json deeper = Json::array();
  std::string path = "/a";
  for (std::size_t i = 0; i < kDepthMax + 1; ++i) {
    deeper.push_back({{"op", "add"}, {"path", path}, {"value", Json::object()}});
    path += "/a";
  }
  const auto refused = apply_json_patch(Json::object(), deeper);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refusal_of(refused.error()) == PatchRefusal::kTooLarge);
  CHECK_FALSE(pointer_tokens(path + path).has_value());
}

}  // namespace amdahl::local
