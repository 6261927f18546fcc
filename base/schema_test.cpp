#include "base/schema.hpp"

#include <catch2/catch.hpp>

#include "base/fields_test_types.hpp"

namespace amdahl {
namespace {

using sample::Everything;

constexpr CelRule kCel[] = {{"self != 'x'", "not x"}};

struct Ruled {
  std::string runtime = {};
  bool cancel = false;
  sample::Retry retry = {};
  sample::Port port = {};
};
template <class V>
constexpr void fields(V& v, Ruled& ruled) {
  v.required("runtime", ruled.runtime, {.doc = "What runs.", .immutable = true, .cel = kCel});
  v.defaulted("cancel", ruled.cancel, false);
  v.optional("retry", ruled.retry, {.doc = "When to stop | or not."});
  v.optional("port", ruled.port);
  v.rule({.rule = "!oldSelf.cancel || self.cancel",
          .message = "a cancelled job stays cancelled",
          .field = ".cancel"});
}

TEST_CASE("schema describes every kind of member") {
  const Json made = schema<Everything>();
  CHECK(made["type"] == "object");
  CHECK(made["required"] == Json({"name"}));
  const auto property = [&](const char* name) { return made["properties"][name].dump(); };
  CHECK(property("name") == R"({"type":"string"})");
  CHECK(property("flag") == R"({"type":"boolean"})");
  CHECK(property("small") == R"({"format":"int32","type":"integer"})");
  CHECK(property("large") == R"({"format":"int64","type":"integer"})");
  CHECK(property("ratio") == R"({"format":"double","type":"number"})");
  CHECK(property("time") == R"({"format":"date-time","type":"string"})");
  CHECK(property("maybe") == R"({"format":"int32","type":"integer"})");
  CHECK(
      property("words") ==
      R"({"items":{"maxLength":5,"type":"string"},"maxItems":4,"type":"array","x-kubernetes-list-type":"set"})");
  CHECK(
      property("counts") ==
      R"({"additionalProperties":{"format":"int32","type":"integer"},"maxProperties":3,"type":"object"})");
  CHECK(property("labels") == R"({"additionalProperties":{"type":"string"},"type":"object"})");
  CHECK(property("mode") == R"({"enum":["Fast","Safe"],"type":"string"})");
  // Others may extend it, so the schema does not refuse what it does not know.
  CHECK(property("phase") == R"({"maxLength":64,"type":"string"})");
  const Json ports = made["properties"]["ports"];
  CHECK(ports["x-kubernetes-list-type"] == "map");
  CHECK(ports["x-kubernetes-list-map-keys"] == Json({"name"}));
  CHECK(ports["items"]["required"] == Json({"name"}));
  CHECK(
      ports["items"]["properties"]["port"].dump() ==
      R"({"default":80,"description":"Where.","format":"int64","maximum":65535,"minimum":1,"type":"integer"})");
}

TEST_CASE("schema keeps free-form parts open") {
  const Json made = schema<sample::Open>();
  CHECK(
      made["properties"]["raw"].dump() ==
      R"({"description":"Anything | at all.","type":"object","x-kubernetes-preserve-unknown-fields":true})");
  CHECK(made["properties"]["patches"]["items"].dump() ==
        R"({"x-kubernetes-preserve-unknown-fields":true})");
}

TEST_CASE("schema writes defaults as the reader applies them") {
  const Json made = schema<Ruled>();
  CHECK(made["properties"]["cancel"]["default"] == false);
  CHECK(made["properties"]["retry"]["default"] == Json::object());
  CHECK(made["properties"]["retry"]["properties"]["mode"]["default"] == "Safe");
  // {} would not be valid there, so absent stays absent.
  CHECK_FALSE(made["properties"]["port"].contains("default"));
}

TEST_CASE("schema carries immutability and CEL rules") {
  const Json made = schema<Ruled>();
  CHECK(
      made["properties"]["runtime"]["x-kubernetes-validations"].dump() ==
      R"([{"message":"runtime is immutable","rule":"self == oldSelf"},{"message":"not x","rule":"self != 'x'"}])");
  CHECK(
      made["x-kubernetes-validations"].dump() ==
      R"([{"fieldPath":".cancel","message":"a cancelled job stays cancelled","rule":"!oldSelf.cancel || self.cancel"}])");
}

TEST_CASE("reference_table writes one row a field and nested tables after it") {
  CHECK(reference_table<Ruled>("Job") ==
        "### Job\n\n"
        "| field | type | default | description |\n| --- | --- | --- | --- |\n"
        "| `runtime` | string | required | What runs. Immutable. |\n"
        "| `cancel` | boolean | `false` |  |\n"
        "| `retry` | object |  | When to stop \\| or not. |\n"
        "| `port` | object |  |  |\n"
        "\n### Job.retry\n\n"
        "| field | type | default | description |\n| --- | --- | --- | --- |\n"
        "| `attempts` | integer, at least 0 | `3` |  |\n"
        "| `mode` | one of Fast, Safe | `\"Safe\"` |  |\n"
        "\n### Job.port\n\n"
        "| field | type | default | description |\n| --- | --- | --- | --- |\n"
        "| `name` | string, up to 8 characters | required | What it is called. |\n"
        "| `port` | integer, 1 to 65535 | `80` | Where. |\n");
}

}  // namespace
}  // namespace amdahl
