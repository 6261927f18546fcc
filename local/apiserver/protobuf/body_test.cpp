#include "local/apiserver/protobuf/body.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "operator/kube/base64.hpp"

namespace amdahl::local {
namespace {

using std::string_literals::operator""s;

Json recorded() {
  std::ifstream file(AMDAHL_PROTOBUF_TESTDATA "/bodies.json");
  return Json::parse(file);
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80U; value >>= 7U) bytes += static_cast<char>((value & 0x7fU) | 0x80U);
  return bytes += static_cast<char>(value);
}

std::string field(std::uint32_t number, const std::string& payload) {
  return varint(number << 3U | 2U) + varint(payload.size()) + payload;
}

std::string number(std::uint32_t field_number, std::uint64_t value) {
  return varint(std::uint64_t{field_number} << 3U) + varint(value);
}

std::string body(const std::string& api_version, const std::string& kind, const std::string& raw) {
  return "k8s\0"s + field(1, field(1, api_version) + field(2, kind)) + field(2, raw);
}

Json read(const std::string& bytes) {
  const auto got = read_protobuf_body(bytes, {.api_version = "v1", .kind = "ConfigMap"});
  INFO((got ? std::string() : got.error().context));
  REQUIRE(got);
  return *got;
}

std::string refusal(const std::string& bytes) {
  const auto got = read_protobuf_body(bytes, {.api_version = "v1", .kind = "ConfigMap"});
  return got ? "read: " + got->dump() : got.error().context;
}

}  // namespace

TEST_CASE("Protobuf bodies of Go clients are the JSON they stand for") {
  const Json bodies = recorded();
  CHECK(bodies.size() == 35);
  for (const auto& [kind, recording] : bodies.items()) {
    const auto bytes = kube::base64_decode(recording["protobuf"].get<std::string>());
    REQUIRE(bytes);
    const auto got = read_protobuf_body(*bytes, {});
    INFO(kind << ": " << (got ? std::string() : got.error().context));
    REQUIRE(got);
    INFO(Json::diff(recording["json"], *got).dump(1));
    CHECK(*got == recording["json"]);
  }
}

TEST_CASE("Protobuf bodies without a kind are what the path says") {
  const Json got = read("k8s\0"s + field(2, field(1, field(1, "a"))));
  CHECK(got == Json::parse(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}})"));
}

TEST_CASE("Protobuf bodies skip unknown fields and merge repeated messages") {
  const std::string raw = field(1, field(1, "a")) + field(900, "new") + number(901, 7) +
                          field(1, field(3, "ns")) + field(2, field(1, "k") + field(2, "v")) +
                          field(2, field(1, "empty"));
  const Json got = read(body("v1", "ConfigMap", raw));
  CHECK(got["metadata"] == Json::parse(R"({"name":"a","namespace":"ns"})"));
  CHECK(got["data"] == Json::parse(R"({"k":"v","empty":""})"));
  CHECK(got.size() == 4);
}

TEST_CASE("Protobuf zeros are left out where Go leaves them out of JSON") {
  // apiVersion, fieldPath and the like are plain strings; optional is a pointer; name is kept.
  const std::string env = field(1, "N") + field(2, "") +
                          field(3, field(3, field(1, field(1, "")) + field(2, "") + number(3, 0)));
  const Json pod = read(body("v1", "Pod", field(2, field(2, field(7, env)))));
  CHECK(pod["spec"]["containers"][0]["env"][0] ==
        Json::parse(R"({"name":"N","valueFrom":{"configMapKeyRef":{"key":"","optional":false}}})"));
}

TEST_CASE("Protobuf times that are not set are null") {
  const std::string unset = field(1, field(8, ""));
  CHECK(read(body("v1", "ConfigMap", unset))["metadata"]["creationTimestamp"].is_null());
  const std::string epoch = field(1, field(8, number(1, 0)));
  CHECK(read(body("v1", "ConfigMap", epoch))["metadata"]["creationTimestamp"] ==
        "1970-01-01T00:00:00Z");
}

TEST_CASE("A DeleteOptions may name any group") {
  const std::string raw = number(1, 0) + field(4, "Foreground");
  const Json want = Json::parse(R"({"kind":"DeleteOptions","apiVersion":"training.amdahl.dev/v1",
      "gracePeriodSeconds":0,"propagationPolicy":"Foreground"})");
  CHECK(read(body("training.amdahl.dev/v1", "DeleteOptions", raw)) == want);
}

TEST_CASE("Protobuf bodies that are refused") {
  const auto meta = [](const std::string& raw) { return body("v1", "ConfigMap", field(1, raw)); };
  const auto pod = [](const std::string& raw) { return body("v1", "Pod", raw); };
  CHECK(refusal("") == "empty data");
  CHECK(refusal("k8s") ==
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  CHECK(refusal(R"({"kind":"ConfigMap"})").starts_with("provided data does not appear"));
  CHECK(refusal(body("v1", "Sheep", "")) == R"(no kind "Sheep" is registered for version "v1")");
  CHECK(refusal("k8s\0\x12\x05"s) == "field 2: truncated field");
  CHECK(refusal("k8s\0\x0b"s) == "field 1: groups and unknown wire types are not supported");
  CHECK(refusal(meta(number(1, 5))) == "field 1.1: expected a length-delimited field");
  CHECK(refusal(meta(field(1, "\xff"))) == "field 1.1: not valid UTF-8");
  CHECK(refusal(meta(field(7, "x"))) == "field 1.7: expected a varint field");
  CHECK(refusal(meta(field(8, number(1, std::uint64_t{1} << 60U)))) ==
        "field 1.8: a time outside of the years 0 to 9999");
  CHECK(refusal(meta(field(17, field(7, field(1, "{"))))) == "field 1.17.7: not JSON");
  const std::string deep(2 * kProtobufJsonDepthMax, '[');
  CHECK(refusal(meta(field(17, field(7, field(1, deep))))) ==
        "field 1.17.7: JSON nested too deeply");
  CHECK(refusal(pod(field(2, field(14, field(4, "\x01\x02"))))) ==
        "field 2.14.4: packed numbers are not supported");
}

TEST_CASE("Protobuf bodies are bounded") {
  std::string many;
  for (std::size_t at = 0; at <= kProtobufValuesMax; ++at) many += field(14, "");
  CHECK(refusal(body("v1", "ConfigMap", field(1, many))) ==
        fmt::format("field 1.14: more than {} values", kProtobufValuesMax));
  // spec.versions[].schema.openAPIV3Schema.not.not ...
  std::string schema;
  for (int level = 0; level < 100; ++level) schema = field(28, schema);
  const std::string crd = field(2, field(7, field(4, field(1, schema))));
  const auto got =
      read_protobuf_body(body("apiextensions.k8s.io/v1", "CustomResourceDefinition", crd), {});
  REQUIRE_FALSE(got);
  CHECK(got.error().code == Errc::kTooLarge);
  CHECK(got.error().context.ends_with("nested too deeply"));
}

}  // namespace amdahl::local
