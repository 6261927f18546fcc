#include <catch2/catch.hpp>

#include "local/apiserver/patch/test_objects.hpp"
#include "local/apiserver/patch/test_shapes.hpp"

namespace amdahl::local {

TEST_CASE("Create gives all fields to the writer, and none that are the server's") {
  test::Stored stored(test::deployment());
  stored.update("kubectl-create", R"({"metadata":{"uid":"u","generation":1,"resourceVersion":"5",
      "creationTimestamp":"2026-11-16T08:00:00Z","labels":{"a":"b"}},"spec":{"replicas":1}})");
  CHECK(stored.updated("kubectl-create") ==
        R"({"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{".":{},"f:replicas":{}}})");
  const Json& entry = managed_fields_of(stored.object())[0];
  CHECK(entry["operation"] == "Update");
  CHECK(entry["apiVersion"] == "x/v1");
  CHECK(entry["fieldsType"] == "FieldsV1");
  CHECK(entry["time"] == "2027-01-15T08:00:01Z");
  CHECK_FALSE(entry.contains("subresource"));
}

TEST_CASE("Update takes what it changes, and only that") {
  test::Stored stored(test::deployment());
  stored.update("a", R"({"spec":{"replicas":1,"paused":false}})");
  stored.update("b", R"({"spec":{"replicas":2,"paused":false}})");
  CHECK(stored.updated("a") == R"({"f:spec":{".":{},"f:paused":{}}})");
  CHECK(stored.updated("b") == R"({"f:spec":{"f:replicas":{}}})");
}

TEST_CASE("Update removes fields from all sets, and empty entries vanish") {
  test::Stored stored(test::deployment());
  stored.update("a", R"({"spec":{"replicas":1}})");
  stored.update("b", R"({"spec":{"replicas":1,"paused":true}})");
  stored.update("c", R"({"spec":{"replicas":1}})");
  CHECK(stored.updated("a") == R"({"f:spec":{".":{},"f:replicas":{}}})");
  CHECK(stored.updated("b").empty());
  CHECK(stored.updated("c").empty());
}

TEST_CASE("Update that changes nothing keeps the time stamps") {
  test::Stored stored(test::deployment());
  stored.update("a", R"({"spec":{"replicas":1}})");
  const Json before = stored.object();
  stored.update("a", R"({"spec":{"replicas":1}})");
  CHECK(stored.object().dump() == before.dump());
  stored.update("b", R"({"spec":{"replicas":1}})");
  CHECK(stored.object().dump() == before.dump());
}

TEST_CASE("Update does not own what its endpoint does not write") {
  test::Stored stored(test::deployment());
  stored.rules.reset_fields = FieldSet::of({{"status"}});
  stored.update("a", R"({"spec":{"replicas":1},"status":{"replicas":3}})");
  CHECK(stored.updated("a") == R"({"f:spec":{".":{},"f:replicas":{}}})");
  stored.rules.reset_fields = FieldSet::of({{"spec"}});
  stored.subresource = "status";
  stored.update("a", R"({"spec":{"replicas":1},"status":{"replicas":4}})");
  CHECK(stored.updated("a") == R"({"f:status":{"f:replicas":{}}})");
  CHECK(managed_fields_of(stored.object()).size() == 2);
}

TEST_CASE("Update of an object without ownership starts none") {
  test::Stored stored(test::deployment());
  stored.update("a", R"({"spec":{"replicas":1}})");
  stored.forget_ownership();
  stored.update("b", R"({"spec":{"replicas":2}})");
  CHECK(managed_fields_of(stored.object()).is_null());
}

TEST_CASE("Update may clear and set managedFields, but not through a subresource") {
  for (const char* clear : {R"({"spec":{"x":1},"metadata":{"managedFields":[]}})",
                            R"({"spec":{"x":1},"metadata":{"managedFields":[{}]}})"}) {
    test::Stored one;
    one.update("a", R"({"spec":{"x":1}})");
    one.subresource = "status";
    one.update("a", clear);
    CHECK(managed_fields_of(one.object()).size() == 1);
    one.subresource = "";
    one.update("a", clear);
    CHECK(managed_fields_of(one.object()).is_null());
  }
  test::Stored stored;
  stored.update("a", R"({"spec":{"x":1}})");
  stored.update("b", R"({"spec":{"x":1},"metadata":{"managedFields":[{"manager":"z",
      "operation":"Apply","apiVersion":"x/v1","fieldsType":"FieldsV1",
      "fieldsV1":{"f:spec":{"f:x":{}}}}]}})");
  CHECK(stored.updated("a").empty());
  CHECK(stored.applied("z") == R"({"f:spec":{"f:x":{}}})");
  stored.update("b", R"({"spec":{"x":1},"metadata":{"managedFields":[{"bad":1},{}]}})");
  CHECK(stored.applied("z") == R"({"f:spec":{"f:x":{}}})");
}

TEST_CASE("Update owns items of lists one by one") {
  test::Stored stored(test::deployment());
  stored.update("a", R"({"metadata":{"finalizers":["x"]}})");
  stored.update("b", R"({"metadata":{"finalizers":["y","x"]}})");
  CHECK(stored.updated("a") == R"({"f:metadata":{"f:finalizers":{".":{},"v:\"x\"":{}}}})");
  CHECK(stored.updated("b") == R"({"f:metadata":{"f:finalizers":{"v:\"y\"":{}}}})");
}

TEST_CASE("Update without a manager's name is by somebody unknown") {
  test::Stored stored;
  stored.update("", R"({"spec":{"x":1}})");
  CHECK(managed_fields_of(stored.object())[0]["manager"] == "unknown");
}

TEST_CASE("Update keeps ten updaters") {
  test::Stored stored;
  for (int i = 0; i < 15; ++i)
    stored.update(fmt::format("m{}", i), fmt::format(R"({{"spec":{{"x":{}}}}})", i).c_str());
  // Each took x from the one before; "." of spec stays with the first.
  CHECK(managed_fields_of(stored.object()).size() == 2);
  Json body = Json::object();
  for (int i = 0; i < 15; ++i) {
    body["spec"][fmt::format("x{}", i)] = i;
    stored.update(fmt::format("m{}", i), body.dump().c_str());
  }
  CHECK(managed_fields_of(stored.object()).size() == kUpdateManagersMax);
  CHECK_FALSE(stored.updated("ancient-changes").empty());
}

TEST_CASE("Update refuses what is nested too deep") {
  Json written = test::nested(kDepthMax + 1);
  const Json before = written;
  const auto result = track_update({}, {.manager = "a", .api_version = "v1"}, nullptr, written);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == Errc::kTooLarge);
  CHECK(written == before);
}

TEST_CASE("A new object does not own what an empty one shows") {
  const Json unset = Json::parse(R"({"spec":{},"value":0})");
  test::Stored stored;
  stored.rules.unset = &unset;
  stored.update("a", R"({"spec":{"x":1},"value":0})");
  CHECK(stored.owned("a", WriteOperation::kUpdate) == R"({"f:spec":{"f:x":{}}})");
}

TEST_CASE("A write through another group of the kind ends what the first one knew") {
  const FieldRules rules = {};
  Json first = Json::parse(R"({"metadata":{"name":"a"},"note":"x"})");
  REQUIRE(track_update(rules, {.manager = "m", .api_version = "events.k8s.io/v1"}, nullptr, first));
  Json second = first;
  second["reason"] = "y";
  REQUIRE(track_update(rules, {.manager = "m", .api_version = "v1"}, &first, second));
  REQUIRE(managed_fields_of(second).size() == 1);
  CHECK(managed_fields_of(second)[0]["apiVersion"] == "v1");
  CHECK(managed_fields_of(second)[0]["fieldsV1"] == Json::parse(R"({"f:reason":{}})"));
  // Also when it changes nothing.
  Json third = second;
  REQUIRE(track_update(rules, {.manager = "m", .api_version = "events.k8s.io/v1"}, &second, third));
  CHECK(managed_fields_of(third).is_null());
}

}  // namespace amdahl::local
