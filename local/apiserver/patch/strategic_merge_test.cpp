#include "local/apiserver/patch/strategic_merge.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/patch/test_shapes.hpp"

namespace amdahl::local {
namespace {

struct Row {
  const char* what;
  const char* document;
  const char* patch;
  const char* result;
};

void check_rows(std::initializer_list<Row> rows, const MergeShape* shape) {
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const auto result =
        apply_strategic_merge(Json::parse(row.document), Json::parse(row.patch), shape);
    if (!result) FAIL_CHECK(result.error().context);
    if (result) CHECK(result->dump() == Json::parse(row.result).dump());
  }
}

}  // namespace

TEST_CASE("Strategic merge merges objects and drops nulls") {
  check_rows(
      {
          {"kubectl label", R"({"metadata":{"labels":{"a":"1"}}})",
           R"({"metadata":{"labels":{"b":"2"}}})", R"({"metadata":{"labels":{"a":"1","b":"2"}}})"},
          {"kubectl label a-", R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
           R"({"metadata":{"labels":{"a":null}}})", R"({"metadata":{"labels":{"b":"2"}}})"},
          {"a null for nothing", R"({"a":1})", R"({"b":null,"c":{"d":null,"e":1}})",
           R"({"a":1,"c":{"e":1}})"},
          {"another kind of value", R"({"a":{"b":1}})", R"({"a":"x"})", R"({"a":"x"})"},
          {"a list without strategy", R"({"a":[1,2]})", R"({"a":[3,null]})", R"({"a":[3,null]})"},
          {"replace an object", R"({"a":{"b":1,"c":2}})", R"({"a":{"$patch":"replace","d":3}})",
           R"({"a":{"d":3}})"},
          {"delete an object", R"({"a":{"b":1}})", R"({"a":{"$patch":"delete"}})", R"({"a":{}})"},
          {"delete what is not there", R"({"x":1})", R"({"a":{"$patch":"delete"}})", R"({"x":1})"},
          {"directives in new values vanish", R"({})",
           R"({"a":{"$setElementOrder/l":[],"$retainKeys":["b"],"b":1,
               "l":[{"$patch":"delete","name":"x"},{"name":"y"}]}})",
           R"({"a":{"b":1,"l":[{"name":"y"}]}})"},
      },
      nullptr);
}

TEST_CASE("Strategic merge merges lists by their merge key") {
  const auto shape = test::pod_spec();
  check_rows(
      {
          {"changes one item in place",
           R"({"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]})",
           R"({"containers":[{"name":"b","image":"2"}]})",
           R"({"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"}]})"},
          // A new item knows no place among the server's, so it comes first, as in kube-apiserver.
          {"a new item without an order", R"({"containers":[{"name":"a"}]})",
           R"({"containers":[{"name":"b"}]})", R"({"containers":[{"name":"b"},{"name":"a"}]})"},
          {"deletes an item", R"({"containers":[{"name":"a"},{"name":"b"}]})",
           R"({"containers":[{"name":"a","$patch":"delete"}]})",
           R"({"containers":[{"name":"b"}]})"},
          {"replaces the list", R"({"containers":[{"name":"a"},{"name":"b"}]})",
           R"({"containers":[{"$patch":"replace"},{"name":"c"}]})",
           R"({"containers":[{"name":"c"}]})"},
          {"merges inside of items",
           R"({"containers":[{"name":"a","env":[{"name":"x","value":"1"}],"args":["1"]}]})",
           R"({"containers":[{"name":"a","env":[{"name":"y","value":"2"}],"args":["2"]}]})",
           R"({"containers":[{"name":"a","env":[{"name":"y","value":"2"},
               {"name":"x","value":"1"}],"args":["2"]}]})"},
          {"a null in an item", R"({"containers":[{"name":"a","image":"1"}]})",
           R"({"containers":[{"name":"a","image":null}]})", R"({"containers":[{"name":"a"}]})"},
          {"numbers as keys", R"({"containers":[{"name":"a","ports":[{"containerPort":80}]}]})",
           R"({"containers":[{"name":"a","ports":[{"containerPort":80,"name":"web"}]}]})",
           R"({"containers":[{"name":"a","ports":[{"containerPort":80,"name":"web"}]}]})"},
          {"an empty list changes nothing", R"({"containers":[{"name":"a"}]})",
           R"({"containers":[]})", R"({"containers":[{"name":"a"}]})"},
          {"an atomic list is replaced", R"({"tolerations":[{"key":"a"}]})",
           R"({"tolerations":[{"key":"b"}]})", R"({"tolerations":[{"key":"b"}]})"},
          {"a null list goes", R"({"containers":[{"name":"a"}]})", R"({"containers":null})", "{}"},
      },
      shape.get());
}

TEST_CASE("Strategic merge orders lists as the directive says") {
  const auto shape = test::pod_spec();
  check_rows(
      {
          {"kubectl apply adds one at the end", R"({"containers":[{"name":"a"}]})",
           R"({"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],
               "containers":[{"name":"b"}]})",
           R"({"containers":[{"name":"a"},{"name":"b"}]})"},
          {"only the order changes", R"({"containers":[{"name":"a"},{"name":"b"}]})",
           R"({"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]})",
           R"({"containers":[{"name":"b"},{"name":"a"}]})"},
          {"what only the server has stays between",
           R"({"containers":[{"name":"a"},{"name":"side"},{"name":"b"}]})",
           R"({"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],
               "containers":[{"name":"b","image":"2"}]})",
           R"({"containers":[{"name":"a"},{"name":"side"},{"name":"b","image":"2"}]})"},
          {"kubectl apply removes one", R"({"containers":[{"name":"a"},{"name":"b"}]})",
           R"({"$setElementOrder/containers":[{"name":"b"}],
               "containers":[{"$patch":"delete","name":"a"}]})",
           R"({"containers":[{"name":"b"}]})"},
          {"a list that is new", R"({})",
           R"({"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"a"}]})",
           R"({"containers":[{"name":"a"}]})"},
          {"no list at all", R"({})", R"({"$setElementOrder/containers":[{"name":"a"}]})", "{}"},
      },
      shape.get());
}

TEST_CASE("Strategic merge unites lists of scalars") {
  const auto shape = test::metadata();
  check_rows(
      {
          {"a new one", R"({"finalizers":["a","b"]})", R"({"finalizers":["c","a"]})",
           R"({"finalizers":["c","a","b"]})"},
          {"one goes", R"({"finalizers":["a","b","c"]})",
           R"({"$deleteFromPrimitiveList/finalizers":["b"]})", R"({"finalizers":["a","c"]})"},
          {"what kubectl apply sends", R"({"finalizers":["a","x","b"]})",
           R"({"$deleteFromPrimitiveList/finalizers":["b"],
               "$setElementOrder/finalizers":["c","a"],"finalizers":["c"]})",
           R"({"finalizers":["c","a","x"]})"},
          {"nothing to delete from", R"({})", R"({"$deleteFromPrimitiveList/finalizers":["b"]})",
           "{}"},
      },
      shape.get());
}

TEST_CASE("Strategic merge retains only the keys it is told") {
  const auto shape = test::deployment();
  check_rows(
      {
          {"a strategy of another type",
           R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}})",
           R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})",
           R"({"spec":{"strategy":{"type":"Recreate"}}})"},
          {"a volume of another kind",
           R"({"spec":{"template":{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}}})",
           R"({"spec":{"template":{"spec":{"volumes":[
               {"name":"v","$retainKeys":["name","hostPath"],"hostPath":{}}]}}}})",
           R"({"spec":{"template":{"spec":{"volumes":[{"name":"v","hostPath":{}}]}}}})"},
      },
      shape.get());
}

TEST_CASE("Strategic merge says why a patch does not work") {
  struct Refused {
    const char* patch;
    PatchRefusal refusal;
    const char* text;
  };
  constexpr auto kBad = PatchRefusal::kBadRequest;
  constexpr auto kOther = PatchRefusal::kUnclassified;
  const Refused rows[] = {
      {R"([])", kBad, "invalid JSON document"},
      {R"({"nodeSelector":{"$patch":"merge"}})", kOther, "unknown patch type: merge in map"},
      {R"({"nodeSelector":{"$patch":"x","a":1}})", kOther,
       "unknown patch type: x in map: map[$patch:x a:1]"},
      {R"({"containers":[{"image":"x"}]})", kOther,
       "map: map[image:x] does not contain declared merge key: name"},
      {R"({"containers":[{"$patch":"delete"}]})", kOther, "does not contain declared merge key"},
      {R"({"containers":[{"$patch":"merge","name":"a"}]})", kOther,
       "merging lists cannot yet be specified in the patch"},
      {R"({"containers":[{"$patch":"y","name":"a"}]})", kOther, "unknown patch type: y in map"},
      {R"({"containers":["x"]})", kOther, "list element types are not identical"},
      {R"({"containers":[[]]})", PatchRefusal::kUnprocessable, "lists of lists are not supported"},
      {R"({"$setElementOrder/containers":{}})", kBad, "invalid patch format of setElementOrder"},
      {R"({"$setElementOrder":[]})", kBad, "invalid patch format of setElementOrder"},
      {R"({"$setElementOrder/containers":[{}]})", kOther, "does not contain declared merge key"},
      {R"({"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"b"}]})", kOther,
       "The order in patch list"},
      {R"({"$deleteFromPrimitiveList":["a"]})", kBad, "invalid patch format of primitive list"},
      {R"({"$deleteFromPrimitiveList/x":1})", kBad, "invalid patch format of primitive list"},
      {R"({"nodeSelector":{"$retainKeys":1}})", kBad, "invalid patch format of retainKeys"},
      {R"({"nodeSelector":{"$retainKeys":[1]}})", kBad, "invalid patch format of retainKeys"},
      {R"({"nodeSelector":{"$retainKeys":["a"],"b":1}})", kBad,
       "invalid patch format of retainKeys"},
  };
  const auto shape = test::pod_spec();
  const Json document = Json::parse(R"({"containers":[{"name":"a"}],"nodeSelector":{"a":"b"}})");
  for (const Refused& row : rows) {
    CAPTURE(row.patch);
    const auto result = apply_strategic_merge(document, Json::parse(row.patch), shape.get());
    REQUIRE_FALSE(result.has_value());
    CHECK(refusal_of(result.error()) == row.refusal);
    CHECK_THAT(result.error().context, Catch::Contains(row.text));
  }
}

TEST_CASE("Strategic merge refuses what is nested too deep") {
  const Json deep = test::nested(kDepthMax + 1);
  for (const auto& result : {apply_strategic_merge(deep, Json::object(), nullptr),
                             apply_strategic_merge(Json::object(), deep, nullptr)}) {
    REQUIRE_FALSE(result.has_value());
    CHECK(refusal_of(result.error()) == PatchRefusal::kTooLarge);
  }
}

}  // namespace amdahl::local
