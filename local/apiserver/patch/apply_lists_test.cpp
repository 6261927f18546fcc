#include <catch2/catch.hpp>

#include "local/apiserver/patch/field_merge.hpp"
#include "local/apiserver/patch/test_objects.hpp"
#include "local/apiserver/patch/test_shapes.hpp"

namespace amdahl::local {
namespace {

// A kind with one list of each sort.
MergeShapePtr lists() {
  auto item =
      test::object({{"name", test::scalar()}, {"v", test::scalar()}, {"w", test::scalar()}});
  return test::object({{"metadata", test::metadata()},
                       {"keyed", test::keyed({"name"}, "name", std::move(item))},
                       {"set", test::set_of_scalars()},
                       {"ports", test::ports()},
                       {"atomic", test::atomic()}});
}

std::string order_of(const Json& list) {
  std::string names;
  for (const Json& item : list)
    names += item.is_object() ? item["name"].get<std::string>() : item.get<std::string>();
  return names;
}

}  // namespace

TEST_CASE("Apply adds and removes items by key") {
  test::Stored stored(lists());
  stored.apply("a", R"({"keyed":[{"name":"x","v":1},{"name":"y","v":1}]})");
  stored.apply("b", R"({"keyed":[{"name":"z","v":1}]})");
  CHECK(order_of(stored.object()["keyed"]) == "xyz");
  stored.apply("a", R"({"keyed":[{"name":"y","v":2}]})");
  CHECK(stored.object()["keyed"] == Json::parse(R"([{"name":"y","v":2},{"name":"z","v":1}])"));
  stored.apply("b", R"({})");
  CHECK(stored.object()["keyed"] == Json::parse(R"([{"name":"y","v":2}])"));
  stored.apply("a", R"({})");
  CHECK_FALSE(stored.object().contains("keyed"));
}

TEST_CASE("Apply shares items and splits their fields") {
  test::Stored stored(lists());
  stored.apply("a", R"({"keyed":[{"name":"x","v":1}]})");
  stored.apply("b", R"({"keyed":[{"name":"x","w":2}]})");
  CHECK(stored.object()["keyed"] == Json::parse(R"([{"name":"x","v":1,"w":2}])"));
  const ApplyConflict conflict = stored.conflict("b", R"({"keyed":[{"name":"x","v":3}]})");
  CHECK(conflict.causes[0].field == R"(.keyed[name="x"].v)");
  stored.apply("a", R"({})");
  CHECK(stored.object()["keyed"] == Json::parse(R"([{"name":"x","w":2}])"));
}

TEST_CASE("Apply that drops an item keeps what others have in it") {
  const auto values = test::object({{"name", test::scalar()}, {"value", test::set_of_scalars()}});
  const auto shape =
      test::object({{"metadata", test::metadata()}, {"l", test::keyed({"name"}, "name", values)}});
  test::Stored shared(shape);
  shared.apply("one", R"({"l":[{"name":"a"},{"name":"b","value":["c"]}]})");
  shared.apply("two", R"({"l":[{"name":"b","value":["d"]}]})");
  shared.update("controller", R"({"l":[{"name":"a"},{"name":"b","value":["c","d","e"]}]})");
  shared.apply("one", R"({"l":[{"name":"a"}]})");
  CHECK(shared.object()["l"] == Json::parse(R"([{"name":"a"},{"name":"b","value":["d","e"]}])"));
  CHECK(shared.updated("controller") ==
        R"({"f:l":{"k:{\"name\":\"b\"}":{"f:value":{"v:\"e\"":{}}}}})");

  // Nobody else owns the item itself: it goes with what an updater put into it.
  test::Stored alone(shape);
  alone.apply("one", R"({"l":[{"name":"a"},{"name":"b","value":["c"]}]})");
  alone.update("controller", R"({"l":[{"name":"a"},{"name":"b","value":["c","d"]}]})");
  alone.apply("one", R"({"l":[{"name":"a"}]})");
  CHECK(alone.object()["l"] == Json::parse(R"([{"name":"a"}])"));
  CHECK(alone.updated("controller").empty());
}

TEST_CASE("Apply unites sets and takes back its own items") {
  test::Stored stored(lists());
  stored.apply("a", R"({"set":["x","y"]})");
  stored.apply("b", R"({"set":["z","y"]})");
  CHECK(stored.applied("b") == R"({"f:set":{"v:\"y\"":{},"v:\"z\"":{}}})");
  stored.apply("a", R"({"set":["x"]})");
  CHECK(stored.object()["set"].size() == 3);
  stored.apply("a", R"({})");
  CHECK(order_of(stored.object()["set"]) == "zy");
}

TEST_CASE("Apply replaces atomic lists") {
  test::Stored stored(lists());
  stored.apply("a", R"({"atomic":[1,2]})");
  stored.apply("a", R"({"atomic":[3]})");
  CHECK(stored.object()["atomic"] == Json::parse("[3]"));
  CHECK(stored.conflict("b", R"({"atomic":[3,4]})").causes[0].field == ".atomic");
}

TEST_CASE("Apply fills in keys that have a default") {
  test::Stored stored(lists());
  stored.apply("a", R"({"ports":[{"containerPort":80}]})");
  stored.apply("b", R"({"ports":[{"containerPort":80,"protocol":"TCP","name":"web"}]})");
  CHECK(stored.object()["ports"] ==
        Json::parse(R"([{"containerPort":80,"protocol":"TCP","name":"web"}])"));
  stored.apply("b", R"({"ports":[{"containerPort":80,"protocol":"UDP"}]})");
  CHECK(stored.object()["ports"].size() == 2);
}

TEST_CASE("Apply refuses items that cannot be told apart") {
  struct Row {
    const char* body;
    const char* text;
  };
  const Row rows[] = {
      {R"({"keyed":[{"name":"x"},{"name":"x"}]})",
       R"(.keyed: duplicate entries for key [name="x"])"},
      {R"({"set":["x","x"]})", R"(.set: duplicate entries for key [="x"])"},
      {R"({"ports":[{"containerPort":80},{"containerPort":80.0,"protocol":"TCP"}]})",
       R"(.ports: duplicate entries for key [containerPort=80,protocol="TCP"])"},
      {R"({"keyed":[{"v":1}]})",
       R"(.keyed: element 0: associative list with keys has an element that omits all key fields )"
       R"(["name"] (and doesn't have default values for any key fields))"},
      {R"({"keyed":[1]})", "associative list with keys may not have non-map elements"},
      {R"({"keyed":[null]})", "associative list with keys may not have a null element"},
      {R"({"set":[{}]})", "associative list without keys has an element that's a map type"},
      {R"({"set":[null]})", "has an element that's an explicit null"},
      {R"({"set":[[]]})", "not supported: associative list with lists as elements"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.body);
    test::Stored stored(lists());
    const std::string text = stored.refusal("a", row.body);
    CHECK_THAT(text,
               Catch::StartsWith("failed to create typed patch object (/one; x/v1, Kind=Thing)"));
    CHECK_THAT(text, Catch::EndsWith(row.text));
  }
}

TEST_CASE("Apply meets items that are twice in the object") {
  test::Stored stored(lists());
  stored.update("old", R"({"keyed":[{"name":"x","v":1},{"name":"x","v":2},{"name":"y"}]})");
  CHECK(stored.updated("old") == R"({"f:keyed":{".":{},"k:{\"name\":\"x\"}":{},)"
                                 R"("k:{\"name\":\"y\"}":{".":{},"f:name":{}}}})");
  stored.apply("a", R"({"keyed":[{"name":"y","v":1}]})");
  CHECK(order_of(stored.object()["keyed"]) == "xxy");
  stored.apply("a", R"({"keyed":[{"name":"x","v":3}]})", true);
  CHECK(stored.object()["keyed"] == Json::parse(R"([{"name":"x","v":3},{"name":"y"}])"));
}

TEST_CASE("Merged lists keep the order of the configuration") {
  struct Row {
    const char* live;
    const char* configuration;
    const char* order;
  };
  const Row rows[] = {
      {"", "ab", "ab"},
      {"ab", "", "ab"},
      {"ab", "ab", "ab"},
      {"ab", "ba", "ba"},
      {"abc", "b", "abc"},
      {"abc", "d", "abcd"},
      {"axb", "ab", "axb"},
      {"axb", "ba", "xba"},
      {"abc", "cxa", "bcxa"},
      {"ab", "xab", "xab"},
      {"ab", "axb", "axb"},
      {"abcd", "dcba", "dcba"},
      {"axbycz", "cba", "xyczba"},
  };
  const auto shape = lists();
  for (const Row& row : rows) {
    CAPTURE(row.live, row.configuration);
    Json live = Json::object();
    Json configuration = Json::object();
    for (const char* name = row.live; *name != '\0'; ++name)
      live["set"].push_back(std::string(1, *name));
    for (const char* name = row.configuration; *name != '\0'; ++name)
      configuration["set"].push_back(std::string(1, *name));
    const Json result = merged(live, configuration, shape.get());
    CHECK(order_of(result.value("set", Json::array())) == row.order);
  }
}

}  // namespace amdahl::local
