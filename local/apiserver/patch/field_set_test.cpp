#include "local/apiserver/patch/field_set.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/patch/field_walk.hpp"
#include "local/apiserver/patch/path_element.hpp"
#include "local/apiserver/patch/test_shapes.hpp"

namespace amdahl::local {
namespace {

FieldSet read(const char* fields) {
  auto set = FieldSet::from_fields_v1(Json::parse(fields));
  REQUIRE(set.has_value());
  return *set;
}

std::string shown(const FieldSet& set) {
  return set.to_fields_v1().dump();
}

}  // namespace

TEST_CASE("FieldSet reads and writes FieldsV1") {
  const char* const texts[] = {
      R"({})",
      R"({"f:spec":{"f:replicas":{}}})",
      R"({"f:metadata":{"f:labels":{".":{},"f:app":{}}}})",
      R"({"f:c":{"k:{\"name\":\"a\"}":{".":{},"f:image":{}}}})",
      R"({"f:p":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{}}})",
      R"({"f:finalizers":{"v:\"x\"":{},"v:1":{},"v:true":{}}})",
      R"({"f:l":{"i:0":{},"i:12":{".":{},"f:a":{}}}})",
  };
  for (const char* text : texts) CHECK(shown(read(text)) == text);
}

TEST_CASE("FieldSet reads what others write differently") {
  CHECK(shown(read(R"({"f:p":{"k:{\"protocol\":\"TCP\", \"containerPort\":80.0}":{".":{}}}})")) ==
        R"({"f:p":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{}}})");
  CHECK(shown(read(R"({"f:a":{"f:b":{}},"x:new":{"f:c":{}}})")) == R"({"f:a":{"f:b":{}}})");
  CHECK(shown(read(R"({"f:l":{"v:1":{},"v:1.0":{}}})")) == R"({"f:l":{"v:1":{}}})");
  CHECK(shown(read(R"({".":{},"f:a":{}})")) == R"({"f:a":{}})");
}

TEST_CASE("FieldSet refuses what is not FieldsV1") {
  for (const char* text : {R"([])", R"({"f:a":1})", R"({"a":{}})", R"({"":{}})", R"({"k:{":{}})",
                           R"({"k:[]":{}})", R"({"v:":{}})", R"({"v:1 2":{}})", R"({"i:x":{}})"}) {
    CAPTURE(text);
    const auto set = FieldSet::from_fields_v1(Json::parse(text));
    REQUIRE_FALSE(set.has_value());
    CHECK(set.error().code == Errc::kCorrupt);
  }
  const auto deep = FieldSet::from_fields_v1(test::nested(kDepthMax + 1));
  REQUIRE_FALSE(deep.has_value());
  CHECK(deep.error().code == Errc::kTooLarge);
}

TEST_CASE("FieldSet algebra treats a path and what is below it apart") {
  const FieldSet one = FieldSet::of({{"a"}, {"a", "b"}, {"c", "d"}});
  const FieldSet two = FieldSet::of({{"a", "b"}, {"c"}, {"e"}});
  CHECK(one.united(two) == FieldSet::of({{"a"}, {"a", "b"}, {"c"}, {"c", "d"}, {"e"}}));
  CHECK(one.intersected(two) == FieldSet::of({{"a", "b"}}));
  CHECK(one.without(two) == FieldSet::of({{"a"}, {"c", "d"}}));
  CHECK(two.without(one) == FieldSet::of({{"c"}, {"e"}}));
  CHECK(one.without_trees(two) == FieldSet::of({{"a"}}));
  CHECK(one.without_trees(FieldSet::of({{"a"}})) == FieldSet::of({{"c", "d"}}));
  CHECK(one.united(two).contains(one));
  CHECK_FALSE(one.contains(two));
  CHECK(one.contains(FieldSet()));
  CHECK(one.has({"f:a", "f:b"}));
  CHECK_FALSE(one.has({"f:c"}));
  CHECK_FALSE(one.has({}));
  CHECK(one.without(one).empty());
  CHECK(one.paths() == std::vector<FieldPath>{{"f:a"}, {"f:a", "f:b"}, {"f:c", "f:d"}});
  // Members of a place come before what is below them.
  CHECK(FieldSet::of({{"a", "b"}, {"z"}}).paths() ==
        std::vector<FieldPath>{{"f:z"}, {"f:a", "f:b"}});
}

TEST_CASE("Path elements show as kube-apiserver shows them") {
  CHECK(shown_path({"f:spec", "f:containers", R"(k:{"name":"a"})", "f:image"}) ==
        R"(.spec.containers[name="a"].image)");
  CHECK(shown_path({"f:p", R"(k:{"containerPort":80,"protocol":"TCP"})"}) ==
        R"(.p[containerPort=80,protocol="TCP"])");
  CHECK(shown_path({"f:f", R"(v:"x")"}) == R"(.f[="x"])");
  CHECK(shown_path({"f:l", "i:3"}) == ".l[3]");
}

TEST_CASE("Fields of a configuration are leaves, entries and items") {
  const auto shape = test::deployment();
  const Json object = Json::parse(R"({"metadata":{"labels":{"app":"x"},"finalizers":["f"]},
      "spec":{"replicas":null,"selector":{"a":{"b":1}},"strategy":{},
        "template":{"spec":{"tolerations":[1],"volumes":[],"containers":[
          {"name":"a","ports":[{"containerPort":80}]}]}}}})");
  const FieldSet expected = read(R"({
      "f:metadata":{"f:labels":{"f:app":{}},"f:finalizers":{"v:\"f\"":{}}},
      "f:spec":{"f:replicas":{},"f:selector":{},"f:strategy":{},
        "f:template":{"f:spec":{"f:tolerations":{},"f:containers":{
          "k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:ports":{
            "k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}}}})");
  CHECK(shown(fields_of(object, shape.get())) == shown(expected));
}

TEST_CASE("Fields of an untyped value own every entry") {
  const Json object = Json::parse(R"({"spec":{"a":{"b":1},"l":[{"x":1}],"e":{}}})");
  CHECK(shown(fields_of(object, nullptr)) ==
        R"({"f:spec":{".":{},"f:a":{".":{},"f:b":{}},"f:e":{},"f:l":{}}})");
}

TEST_CASE("Comparison finds what was removed, modified and added") {
  struct Row {
    const char* before;
    const char* after;
    const char* removed;
    const char* modified;
    const char* added;
  };
  const Row rows[] = {
      {R"({"a":1})", R"({"a":1})", "{}", "{}", "{}"},
      {R"({"a":1})", R"({"a":1.0})", "{}", "{}", "{}"},
      {R"({"a":1})", R"({"a":2,"b":3})", "{}", R"({"f:a":{}})", R"({"f:b":{}})"},
      {R"({"a":{"b":1}})", R"({})", R"({"f:a":{".":{},"f:b":{}}})", "{}", "{}"},
      {R"({})", R"({"a":{"b":1}})", "{}", "{}", R"({"f:a":{".":{},"f:b":{}}})"},
      {R"({"a":{"b":1}})", R"({"a":{}})", R"({"f:a":{"f:b":{}}})", "{}", "{}"},
      {R"({"a":{"b":1}})", R"({"a":7})", R"({"f:a":{"f:b":{}}})", R"({"f:a":{}})", "{}"},
      {R"({"a":7})", R"({"a":{"b":1}})", "{}", R"({"f:a":{}})", R"({"f:a":{"f:b":{}}})"},
      {R"({"a":[1]})", R"({"a":[2]})", "{}", R"({"f:a":{}})", "{}"},
      {R"({"a":1})", R"({"a":null})", "{}", R"({"f:a":{}})", "{}"},
      {R"({})", R"({"a":{}})", "{}", "{}", R"({"f:a":{}})"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.before, row.after);
    const Json before = Json::parse(row.before);
    const Json after = Json::parse(row.after);
    const FieldComparison found = compared(&before, &after, nullptr);
    CHECK(shown(found.removed) == row.removed);
    CHECK(shown(found.modified) == row.modified);
    CHECK(shown(found.added) == row.added);
  }
}

TEST_CASE("Comparison looks at items by their keys") {
  const auto list = test::keyed({"name"}, "name",
                                test::object({{"name", test::scalar()}, {"v", test::scalar()}}));
  const auto shape = test::object({{"l", list}});
  const auto differs = [&](const char* before, const char* after) {
    const Json one = Json::parse(before);
    const Json two = Json::parse(after);
    const FieldComparison found = compared(&one, &two, shape.get());
    return fmt::format("-{} ~{} +{}", shown(found.removed), shown(found.modified),
                       shown(found.added));
  };
  CHECK(differs(R"({"l":[{"name":"a"},{"name":"b"}]})", R"({"l":[{"name":"b"},{"name":"a"}]})") ==
        "-{} ~{} +{}");
  CHECK(differs(R"({"l":[{"name":"a","v":1}]})", R"({"l":[{"name":"a","v":2}]})") ==
        R"(-{} ~{"f:l":{"k:{\"name\":\"a\"}":{"f:v":{}}}} +{})");
  CHECK(differs(R"({"l":[{"name":"a"}]})", R"({"l":[]})") ==
        R"(-{"f:l":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}} ~{} +{})");
  // Twice the same key is owned as one, and a list with an item without key is one value.
  CHECK(differs(R"({"l":[{"name":"a","v":1},{"name":"a"}]})",
                R"({"l":[{"name":"a","v":2},{"name":"a"}]})") ==
        R"(-{} ~{"f:l":{"k:{\"name\":\"a\"}":{}}} +{})");
  CHECK(differs(R"({"l":[{"v":1}]})", R"({"l":[{"v":2}]})") == R"(-{} ~{"f:l":{}} +{})");
}

}  // namespace amdahl::local
