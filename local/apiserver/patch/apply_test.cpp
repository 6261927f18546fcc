#include "local/apiserver/patch/apply.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/patch/test_objects.hpp"
#include "local/apiserver/patch/test_shapes.hpp"

namespace amdahl::local {
namespace {

Json spec_of(const test::Stored& stored) {
  return stored.content().value("spec", Json());
}

}  // namespace

TEST_CASE("Apply creates what does not exist") {
  test::Stored stored(test::deployment());
  stored.apply("a", R"({"metadata":{"labels":{"x":"y"}},"spec":{"replicas":1}})");
  CHECK(stored.content() == Json::parse(R"({"apiVersion":"x/v1","kind":"Thing",
      "metadata":{"name":"one","labels":{"x":"y"}},"spec":{"replicas":1}})"));
  CHECK(stored.applied("a") ==
        R"({"f:metadata":{"f:labels":{"f:x":{}}},"f:spec":{"f:replicas":{}}})");
  const Json& entry = managed_fields_of(stored.object())[0];
  CHECK(entry["operation"] == "Apply");
  CHECK(entry["time"] == "2027-01-15T08:00:01Z");
}

TEST_CASE("Apply that changes nothing gives its new entry no time") {
  test::Stored stored(test::deployment());
  stored.apply("a", R"({"spec":{"replicas":1}})");
  stored.apply("b", R"({"spec":{"replicas":1}})");
  CHECK(stored.applied("b") == R"({"f:spec":{"f:replicas":{}}})");
  for (const Json& entry : managed_fields_of(stored.object()))
    CHECK(entry.contains("time") == (entry["manager"] == "a"));
}

TEST_CASE("Apply of the same configuration changes no byte") {
  test::Stored stored(test::deployment());
  const char* const body = R"({"metadata":{"creationTimestamp":null,"finalizers":["a","b"]},
      "spec":{"replicas":1,"template":{"spec":{"containers":[{"name":"c"},{"name":"d"}]}}}})";
  stored.apply("a", body);
  const std::string before = stored.object().dump();
  stored.apply("a", body);
  CHECK(stored.object().dump() == before);
  stored.apply("a", body, true);
  CHECK(stored.object().dump() == before);
}

TEST_CASE("Apply by two managers merges and keeps both as owners") {
  test::Stored stored(test::deployment());
  stored.apply("a", R"({"spec":{"replicas":1}})");
  stored.apply("b", R"({"spec":{"paused":true}})");
  CHECK(spec_of(stored) == Json::parse(R"({"replicas":1,"paused":true})"));
  CHECK(stored.applied("a") == R"({"f:spec":{"f:replicas":{}}})");
  CHECK(stored.applied("b") == R"({"f:spec":{"f:paused":{}}})");
}

TEST_CASE("Apply of the same value shares the field") {
  test::Stored stored(test::deployment());
  stored.apply("a", R"({"spec":{"replicas":1}})");
  stored.apply("b", R"({"spec":{"replicas":1}})");
  CHECK(stored.applied("a") == R"({"f:spec":{"f:replicas":{}}})");
  CHECK(stored.applied("b") == R"({"f:spec":{"f:replicas":{}}})");
  // Leaving it out gives up the share; the field stays until nobody has it.
  stored.apply("a", R"({"spec":{"paused":true}})");
  CHECK(spec_of(stored) == Json::parse(R"({"replicas":1,"paused":true})"));
  stored.apply("b", R"({"spec":{}})");
  CHECK(spec_of(stored) == Json::parse(R"({"paused":true})"));
}

TEST_CASE("Apply with another value is a conflict in kube-apiserver's words") {
  test::Stored stored(test::deployment());
  stored.apply("a", R"({"spec":{"replicas":1}})");
  const ApplyConflict conflict = stored.conflict("b", R"({"spec":{"replicas":2}})");
  CHECK(conflict.message == R"(Apply failed with 1 conflict: conflict with "a": .spec.replicas)");
  REQUIRE(conflict.causes.size() == 1);
  CHECK(conflict.causes[0] == Cause{.reason = "FieldManagerConflict",
                                    .message = R"(conflict with "a")",
                                    .field = ".spec.replicas"});
  stored.update("kubectl-edit", R"({"spec":{"replicas":1,"paused":false}})");
  const ApplyConflict two = stored.conflict("b", R"({"spec":{"replicas":2,"paused":true}})");
  CHECK(two.message ==
        "Apply failed with 2 conflicts: conflicts with \"a\":\n- .spec.replicas\n"
        "conflicts with \"kubectl-edit\" using x/v1:\n- .spec.paused");
  REQUIRE(two.causes.size() == 2);
  CHECK(two.causes[1].message == R"(conflict with "kubectl-edit" using x/v1)");
}

TEST_CASE("Apply with force takes the field away") {
  test::Stored stored(test::deployment());
  stored.apply("a", R"({"spec":{"replicas":1,"paused":true}})");
  stored.apply("b", R"({"spec":{"replicas":2}})", true);
  CHECK(spec_of(stored)["replicas"] == 2);
  CHECK(stored.applied("a") == R"({"f:spec":{"f:paused":{}}})");
  CHECK(stored.applied("b") == R"({"f:spec":{"f:replicas":{}}})");
  // a's next apply conflicts with b; without the field it does not.
  stored.conflict("a", R"({"spec":{"replicas":1,"paused":true}})");
  stored.apply("a", R"({"spec":{"paused":true}})");
  CHECK(spec_of(stored)["replicas"] == 2);
}

TEST_CASE("Apply removes what it no longer names") {
  test::Stored stored(test::deployment());
  stored.apply("a",
               R"({"metadata":{"labels":{"x":"1","y":"2"}},"spec":{"replicas":1,"paused":true}})");
  stored.apply("a", R"({"metadata":{"labels":{"x":"1"}},"spec":{"replicas":1}})");
  CHECK(stored.content()["metadata"] == Json::parse(R"({"name":"one","labels":{"x":"1"}})"));
  CHECK(spec_of(stored) == Json::parse(R"({"replicas":1})"));
  stored.apply("a", R"({"spec":{"replicas":1}})");
  CHECK(stored.content()["metadata"] == Json::parse(R"({"name":"one"})"));
}

TEST_CASE("Apply leaves what an update added, and what nobody owns") {
  test::Stored stored(test::deployment());
  stored.apply("a", R"({"metadata":{"labels":{"x":"1"}},"spec":{"replicas":1}})");
  stored.update("hpa",
                R"({"metadata":{"labels":{"x":"1","z":"3"}},"spec":{"replicas":1,"paused":true}})");
  stored.apply("a", R"({"spec":{"replicas":2}})");
  CHECK(stored.content()["metadata"]["labels"] == Json::parse(R"({"z":"3"})"));
  CHECK(spec_of(stored) == Json::parse(R"({"replicas":2,"paused":true})"));
}

TEST_CASE("Update after apply takes ownership, and the next apply conflicts") {
  test::Stored stored(test::deployment());
  stored.apply("a", R"({"spec":{"replicas":1,"paused":true}})");
  stored.update("scaler", R"({"spec":{"replicas":5,"paused":true}})");
  CHECK(stored.applied("a") == R"({"f:spec":{"f:paused":{}}})");
  CHECK(stored.updated("scaler") == R"({"f:spec":{"f:replicas":{}}})");
  const ApplyConflict conflict = stored.conflict("a", R"({"spec":{"replicas":1,"paused":true}})");
  CHECK(conflict.causes[0].message == R"(conflict with "scaler" using x/v1)");
  // Giving it up keeps the scaler's value.
  stored.apply("a", R"({"spec":{"paused":true}})");
  CHECK(spec_of(stored)["replicas"] == 5);
}

TEST_CASE("Apply to an object nobody tracked blames what was there before") {
  test::Stored stored(test::deployment());
  stored.update("old", R"({"spec":{"replicas":1}})");
  stored.forget_ownership();
  const ApplyConflict conflict = stored.conflict("a", R"({"spec":{"replicas":2}})");
  CHECK(conflict.causes[0].message == R"(conflict with "before-first-apply" using x/v1)");
  stored.apply("a", R"({"spec":{"replicas":2}})", true);
  CHECK(stored.updated("before-first-apply") == R"({"f:spec":{}})");
}

TEST_CASE("Apply treats atomic values as one field") {
  test::Stored stored(test::deployment());
  stored.apply("a", R"({"spec":{"selector":{"matchLabels":{"x":"1"}}}})");
  CHECK(stored.applied("a") == R"({"f:spec":{"f:selector":{}}})");
  const ApplyConflict conflict =
      stored.conflict("b", R"({"spec":{"selector":{"matchLabels":{"y":"1"}}}})");
  CHECK(conflict.causes[0].field == ".spec.selector");
  stored.apply("a", R"({"spec":{"selector":{"matchLabels":{"y":"1"}}}})");
  CHECK(spec_of(stored)["selector"] == Json::parse(R"({"matchLabels":{"y":"1"}})"));
}

TEST_CASE("Apply of null sets a scalar and leaves what merges") {
  test::Stored stored(test::deployment());
  stored.apply("a", R"({"metadata":{"labels":{"x":"1"}},"spec":{"replicas":1}})");
  stored.apply("b", R"({"metadata":{"labels":null}})");
  CHECK(stored.content()["metadata"]["labels"] == Json::parse(R"({"x":"1"})"));
  CHECK(stored.applied("b") == R"({"f:metadata":{"f:labels":{}}})");
  stored.apply("a", R"({"metadata":{"labels":{"x":"1"}},"spec":{"replicas":null}})");
  CHECK(spec_of(stored)["replicas"].is_null());
}

TEST_CASE("Apply deduces the shape of a kind without schema") {
  test::Stored stored;
  stored.apply("a", R"({"spec":{"m":{"x":1,"deep":{"y":2}},"l":[{"name":"a"}]}})");
  CHECK(stored.applied("a") ==
        R"({"f:spec":{".":{},"f:l":{},"f:m":{".":{},"f:deep":{".":{},"f:y":{}},"f:x":{}}}})");
  stored.apply("b", R"({"spec":{"m":{"deep":{"z":3}}}})");
  CHECK(spec_of(stored)["m"] == Json::parse(R"({"x":1,"deep":{"y":2,"z":3}})"));
  const ApplyConflict conflict = stored.conflict("b", R"({"spec":{"l":[{"name":"b"}]}})");
  CHECK(conflict.causes[0].field == ".spec.l");
  stored.apply("a", R"({"spec":{"l":[{"name":"a"}]}})");
  CHECK(spec_of(stored) == Json::parse(R"({"l":[{"name":"a"}],"m":{"deep":{"z":3}}})"));
  stored.apply("a", R"({})");
  CHECK(spec_of(stored) == Json::parse(R"({"m":{"deep":{"z":3}}})"));
}

TEST_CASE("Apply of several managers meets in nested untyped maps") {
  test::Stored stored;
  stored.apply("one", R"({"a":{"b":null},"c":{"d":null}})");
  stored.apply("two", R"({"a":null,"c":{"d":null}})");
  stored.update("x", R"({"a":{"b":{"c":null}},"c":{"d":{"e":null}}})");
  stored.update("y", R"({"a":{"b":{"c":{"d":null}}},"c":{"d":{"e":{"f":null}}}})");
  stored.update("x", R"({"a":{"b":{"c":{"d":{"e":null}}}},"c":{"d":{"e":{"f":{"g":null}}}}})");
  stored.apply("one", R"({})");
  CHECK(stored.object()["a"] == Json::object());
  CHECK(stored.object()["c"] == Json::parse(R"({"d":{"e":{"f":{"g":null}}}})"));
  CHECK(stored.applied("one").empty());
  CHECK(stored.applied("two") == R"({"f:a":{},"f:c":{".":{},"f:d":{}}})");
  CHECK(stored.updated("x") == R"({"f:c":{"f:d":{"f:e":{".":{},"f:f":{"f:g":{}}}}}})");
  CHECK(stored.updated("y") == R"({"f:c":{"f:d":{"f:e":{"f:f":{}}}}})");
}

TEST_CASE("Apply changes the kind of an untyped value") {
  test::Stored stored;
  stored.apply("a", R"({"spec":{"v":{"x":1}}})");
  stored.apply("a", R"({"spec":{"v":7}})");
  CHECK(spec_of(stored)["v"] == 7);
  stored.apply("a", R"({"spec":{"v":{"x":1}}})");
  CHECK(spec_of(stored)["v"] == Json::parse(R"({"x":1})"));
  CHECK(stored.applied("a") == R"({"f:spec":{".":{},"f:v":{".":{},"f:x":{}}}})");
}

TEST_CASE("Apply does not own what its endpoint does not write") {
  test::Stored stored(test::deployment());
  stored.rules.reset_fields = FieldSet::of({{"status"}});
  stored.apply("a", R"({"spec":{"replicas":1},"status":{"replicas":9}})");
  CHECK(stored.applied("a") == R"({"f:spec":{"f:replicas":{}}})");
  stored.rules.reset_fields = FieldSet::of({{"spec"}});
  stored.subresource = "status";
  stored.apply("a", R"({"spec":{"replicas":7},"status":{"replicas":2}})");
  CHECK(stored.applied("a") == R"({"f:status":{"f:replicas":{}}})");
  CHECK(stored.content()["status"]["replicas"] == 2);
  CHECK(managed_fields_of(stored.object()).size() == 2);
  CHECK_THAT(stored.conflict("b", R"({"status":{"replicas":3}})").message,
             Catch::EndsWith(R"(conflict with "a" with subresource "status": .status.replicas)"));
}

TEST_CASE("Apply refuses a configuration that may not be applied") {
  test::Stored stored(test::deployment());
  for (const char* entries : {R"({"metadata":{"managedFields":[{"manager":"x"}]}})",
                              R"({"metadata":{"managedFields":[]}})"})
    CHECK(stored.refusal("a", entries) == "metadata.managedFields must be nil");
  auto typed = std::make_shared<MergeShape>(MergeShape{.kind = MergeKind::kAtomic, .list = true});
  typed->item = test::object({{"manager", test::scalar()}});
  test::Stored other(test::object({{"metadata", test::object({{"managedFields", typed}})}}));
  CHECK_THAT(other.refusal("a", R"({"metadata":{"managedFields":true}})"),
             Catch::EndsWith(".metadata.managedFields: expected list, got boolean"));
  CHECK_THAT(other.refusal("a", R"({"metadata":{"managedFields":[{"manager":"x"},1]}})"),
             Catch::EndsWith(".metadata.managedFields[1]: expected map, got number"));
  CHECK_THAT(
      other.refusal("a", R"({"metadata":{"managedFields":[{"manager":{}}]}})"),
      Catch::EndsWith(".metadata.managedFields[0].manager: expected any scalar, got object"));
  other.apply("a", R"({"metadata":{"managedFields":[null]}})");
  CHECK_THAT(stored.refusal("a", R"({"spec":1})"),
             Catch::EndsWith(".spec: expected map, got number"));
  CHECK_THAT(stored.refusal("a", R"({"metadata":{"finalizers":{}}})"),
             Catch::EndsWith(".metadata.finalizers: expected list, got object"));
  CHECK_THAT(stored.refusal("a", R"({"spec":{"replicas":[]}})"),
             Catch::EndsWith(".spec.replicas: expected any scalar, got array"));
  const FieldWriter writer{.manager = "a", .api_version = "x/v2"};
  const auto version = server_side_apply({}, writer, nullptr, Json{{"apiVersion", "x/v1"}}, false);
  REQUIRE_FALSE(version.has_value());
  CHECK(refusal_of(version.error()) == PatchRefusal::kBadRequest);
  CHECK(
      version.error().context ==
      "Incorrect version specified in apply patch. Specified patch version: x/v1, expected: x/v2");
  const auto list = server_side_apply({}, writer, nullptr, Json::array(), false);
  CHECK(refusal_of(list.error()) == PatchRefusal::kBadRequest);
  const auto deep = server_side_apply({}, writer, nullptr, test::nested(kDepthMax + 1), false);
  CHECK(refusal_of(deep.error()) == PatchRefusal::kTooLarge);
}

TEST_CASE("Apply by kubectl takes over what its client-side apply wrote") {
  test::Stored stored(test::deployment());
  stored.update("kubectl-client-side-apply", R"x({"metadata":{"annotations":{
      "kubectl.kubernetes.io/last-applied-configuration":
      "{\"apiVersion\":\"x/v1\",\"kind\":\"Thing\",\"spec\":{\"replicas\":1}}"}},
      "spec":{"replicas":1,"paused":false}})x");
  stored.conflict("deployer", R"({"spec":{"replicas":2}})");
  const ApplyConflict rest = stored.conflict("kubectl", R"({"spec":{"replicas":2,"paused":true}})");
  REQUIRE(rest.causes.size() == 1);
  CHECK(rest.causes[0].field == ".spec.paused");
  stored.apply("kubectl", R"({"spec":{"replicas":2}})");
  CHECK(spec_of(stored)["replicas"] == 2);
  const std::string last =
      stored
          .content()["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"];
  CHECK(Json::parse(last)["spec"] == Json::parse(R"({"replicas":2})"));
}

}  // namespace amdahl::local
