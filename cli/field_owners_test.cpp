#include "cli/field_owners.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace amdahl::cli {
namespace {

Json entry(const char* manager, const char* operation, const char* fields,
           const char* subresource = "") {
  Json made = {{"manager", manager},
               {"operation", operation},
               {"fieldsV1", Json::parse(fields)},
               {"fieldsType", "FieldsV1"}};
  if (*subresource != '\0') made["subresource"] = subresource;
  return made;
}
Json with(Json entries) {
  return {{"metadata", {{"managedFields", std::move(entries)}}}};
}

TEST_CASE("Only a program that is not a person's tool can hold a field against a file", "[D5]") {
  const Json manifest = Json::parse(
      R"({"metadata":{"name":"x"},"spec":{"nodes":2,"template":{"spec":{"containers":[{}]}}}})");
  struct Row {
    Json entries;
    bool held;
  };
  const char* nodes = R"({"f:spec":{".":{},"f:nodes":{}}})";
  const Row rows[] = {
      {Json::array(), false},
      {Json("nonsense"), false},
      {Json::array({5, nullptr}), false},
      {Json::array({entry("kubectl-client-side-apply", "Update", nodes)}), false},
      {Json::array({entry("kubectl", "Apply", nodes)}), false},
      {Json::array({entry("kubectl-edit", "Update", nodes)}), false},
      {Json::array({entry("amdahl", "Update", nodes)}), false},
      {Json::array({entry("amdahl-control", "Update", R"({"f:spec":{"f:suspend":{}}})")}), false},
      {Json::array({entry("kueue", "Update", nodes)}), true},
      {Json::array({entry("kueue", "Update", R"({"f:spec":{"f:suspend":{}}})")}), false},
      {Json::array({entry("operator", "Update", nodes, "status")}), false},
      {Json::array({entry(
           "tool", "Update",
           R"({"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"t\"}":{}}}}}})")}),
       true},
  };
  for (const Row& row : rows) {
    INFO(row.entries.dump());
    CHECK(others_manage(with(row.entries), manifest) == row.held);
  }
}

TEST_CASE("What a create wrote is turned into what an apply would have written", "[D5]") {
  const Json created = with(Json::array({entry("amdahl-operator", "Update", "{}", "status"),
                                         entry("kubectl", "Update", R"({"f:spec":{}})")}));
  const auto patch = adoption_patch(created);
  REQUIRE(patch);
  CHECK(patch->at(0).dump() ==
        R"({"op":"test","path":"/metadata/managedFields/1/manager","value":"kubectl"})");
  CHECK(patch->at(1)["value"] == "Update");
  CHECK(patch->at(2).dump() ==
        R"({"op":"replace","path":"/metadata/managedFields/1/operation","value":"Apply"})");
  CHECK_FALSE(adoption_patch(created.patch(*patch)));
  CHECK_FALSE(adoption_patch(Json::parse(R"({"metadata":{"managedFields":5}})")));
}

}  // namespace
}  // namespace amdahl::cli
