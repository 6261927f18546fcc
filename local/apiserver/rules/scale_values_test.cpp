#include "local/apiserver/rules/scale_values.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace amdahl::local {
namespace {

const ScalePaths kPaths{.spec_replicas = ".spec.replicas",
                        .status_replicas = ".status.replicas",
                        .label_selector = ".status.selector"};

TEST_CASE("Scale values: texts are those of a kube-apiserver") {
  struct Row {
    const char* object;
    const char* cause;  // "": none
  };
  const Row row = GENERATE(values<Row>({
      {R"({})", ""},
      {R"({"spec":null})", ""},
      {R"({"spec":{"replicas":3}})", ""},
      {R"({"spec":true})",
       "Invalid value: 0: .spec.replicas accessor error: true is of the type "
       "bool, expected map[string]interface{}"},
      {R"({"spec":{"replicas":"x"}})",
       "Invalid value: 0: .spec.replicas accessor error: x is of "
       "the type string, expected int64"},
      {R"({"spec":{"replicas":1.5}})",
       "Invalid value: 0: .spec.replicas accessor error: 1.5 is of "
       "the type float64, expected int64"},
      {R"({"spec":{"replicas":null}})",
       "Invalid value: 0: .spec.replicas accessor error: <nil> is "
       "of the type <nil>, expected int64"},
      {R"({"spec":{"replicas":-1}})", "Invalid value: -1: should be a non-negative integer"},
      {R"({"spec":{"replicas":2147483648}})",
       "Invalid value: 2147483648: should be less than or equal to 2147483647"},
  }));
  CAPTURE(row.object);
  const std::vector<Cause> causes = scale_spec_causes(kPaths, Json::parse(row.object));
  REQUIRE(causes.size() == (*row.cause == '\0' ? 0 : 1));
  if (causes.empty()) return;
  CHECK(causes[0].field == ".spec.replicas");
  CHECK(causes[0].message == row.cause);
}

TEST_CASE("Scale values: of a status, replicas and selector") {
  const Json object = Json::parse(R"({"status":{"replicas":-2,"selector":[1]}})");
  const std::vector<Cause> causes = scale_status_causes(kPaths, object);
  REQUIRE(causes.size() == 2);
  CHECK(causes[0].field == ".status.replicas");
  CHECK(causes[1].message ==
        "Invalid value: \"\": .status.selector accessor error: [1] is of the type []interface {}, "
        "expected string");
  CHECK(scale_status_causes({}, object).empty());
}

}  // namespace
}  // namespace amdahl::local
