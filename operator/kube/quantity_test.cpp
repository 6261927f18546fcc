#include "operator/kube/quantity.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json_decode.hpp"
#include "base/json_encode.hpp"
#include "base/schema.hpp"

namespace amdahl::kube {
namespace {

Quantity quantity(std::string_view text) {
  const auto parsed = Quantity::parse(text);
  INFO(text);
  REQUIRE(parsed);
  return *parsed;
}

struct Row {
  std::string_view text = {};
  std::string_view canonical = {};
  std::int64_t value = {};
  std::int64_t milli = {};
};

// What k8s.io/apimachinery/pkg/api/resource says of the same texts.
TEST_CASE("Quantity reads and writes what Kubernetes does") {
  constexpr Row kRows[] = {
      {"0", "0", 0, 0},
      {"1", "1", 1, 1000},
      {"-1", "-1", -1, -1000},
      {"+5", "5", 5, 5000},
      {"100m", "100m", 1, 100},
      {"1500m", "1500m", 2, 1500},
      {"1.5", "1500m", 2, 1500},
      {"1.500", "1500m", 2, 1500},
      {"0.5", "500m", 1, 500},
      {"0.0001", "100u", 1, 1},
      {"1e3", "1e3", 1000, 1000000},
      {"1E3", "1e3", 1000, 1000000},
      {"1e+3", "1e3", 1000, 1000000},
      {"1e-3", "1e-3", 1, 1},
      {"1.5e3", "1500", 1500, 1500000},
      {"100e1", "1e3", 1000, 1000000},
      {"1Ki", "1Ki", 1024, 1024000},
      {"1023", "1023", 1023, 1023000},
      {"1024", "1024", 1024, 1024000},
      {"1024Ki", "1Mi", 1048576, 1048576000},
      {"1536Mi", "1536Mi", 1610612736, 1610612736000},
      {"1.5Gi", "1536Mi", 1610612736, 1610612736000},
      {"0.5Ki", "512", 512, 512000},
      {"0.1Gi", "107374182400m", 107374183, 107374182400},
      {"0.0001Ki", "102400u", 1, 103},
      {"1000k", "1M", 1000000, 1000000000},
      {"1n", "1n", 1, 1},
      {"1u", "1u", 1, 1},
      {"0.1n", "1n", 1, 1},
      {"1.1n", "2n", 1, 1},
      {"1500Ki", "1500Ki", 1536000, 1536000000},
      {"0Ki", "0", 0, 0},
      {"-0", "0", 0, 0},
      {"00012", "12", 12, 12000},
      {"1.", "1", 1, 1000},
      {"1.G", "1G", 1000000000, 1000000000000},
      {".5", "500m", 1, 500},
      {".5Gi", "512Mi", 536870912, 536870912000},
      {"123456789.123456789", "123456789123456789n", 123456790, 123456789124},
      {"123456789.1234567891", "123456789123456790n", 123456790, 123456789124},
      {"-1536Mi", "-1536Mi", -1610612736, -1610612736000},
      {"-0.5Gi", "-512Mi", -536870912, -536870912000},
      {"0e1000", "0", 0, 0},
      {"207500m", "207500m", 208, 207500},
      {"1.5Ti", "1536Gi", 1649267441664, 1649267441664000},
      {"4.5Ki", "4608", 4608, 4608000},
      {"1.0001Ki", "1024102400u", 1025, 1024103},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    const Quantity parsed = quantity(row.text);
    CHECK(parsed.to_string() == row.canonical);
    CHECK(parsed.value() == row.value);
    CHECK(parsed.milli_value() == row.milli);
    CHECK(quantity(row.canonical) == parsed);
  }
}

TEST_CASE("Quantity stays exact where 64 bits end") {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"12E", "12E"},
      {"1e19", "10e18"},
      {"1e27", "1e27"},
      {"9223372036854775808", "9223372036854775808"},
      {"7Ei", "7Ei"},
      {"8Ei", "9223372036854775807"},
      {"9999999999Ei", "9223372036854775807"},
      {"-9999999999Ei", "-9223372036854775807"},
      {"1000E", "1000E"},  // Kubernetes writes "1" here, which is a fault of its own
      {"1e-100", "1e-9"},
      {"-1.1n", "-2n"},
  };
  for (const auto& [text, canonical] : rows) {
    CAPTURE(text);
    CHECK(quantity(text).to_string() == canonical);
  }
  CHECK(quantity("12E").value() == kMax);
  CHECK(quantity("-12E").value() == std::numeric_limits<std::int64_t>::min());
  CHECK(quantity("1E").milli_value() == kMax);
}

TEST_CASE("Quantity refuses what is none", "[C8]") {
  const std::string long_text(65, '1');
  const std::string_view rows[] = {"",     "x",      "1x",    "1 ",    " 1",
                                   "1KiB", "--1",    "1.2.3", "1e",    "e3",
                                   "1ki",  "1K",     "Ki",    "1e3Ki", "-",
                                   ".",    "+",      "1m1",   "0x10",  "NaN",
                                   "1i",   "1e1.5",  "1e+-3", "1e28",  "1e99999999999999999999",
                                   "\xff", long_text};
  for (const std::string_view text : rows) {
    CAPTURE(text);
    const auto parsed = Quantity::parse(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == Errc::kInvalid);
  }
  CHECK(Quantity::parse("5Q").error().context ==
        "\"5Q\" is not a quantity: no such suffix as \"Q\"");
}

TEST_CASE("Quantity compares and adds amounts, not texts") {
  CHECK(quantity("1") == quantity("1000m"));
  CHECK(quantity("1Gi") > quantity("1G"));
  CHECK(quantity("-1") < quantity("0"));
  CHECK(quantity("1n") > quantity("0"));
  CHECK((quantity("1.5Gi") + quantity("512Mi")).to_string() == "2Gi");
  CHECK((quantity("1") - quantity("100m")).to_string() == "900m");
  CHECK((Quantity() + quantity("2Gi")).to_string() == "2Gi");
  CHECK(Quantity::from_integer(8).to_string() == "8");
  CHECK(Quantity::from_integer(1024, Quantity::Format::kBinarySi).to_string() == "1Ki");
  CHECK(Quantity::from_milli(2500).to_string() == "2500m");
  Quantity sum = quantity("1e27");
  for (int i = 0; i < 100; ++i) sum += sum;
  CHECK(sum == quantity("1e27"));
}

struct Limits {
  Quantity cpu = {};
  std::optional<Quantity> memory = {};
};
template <class V>
constexpr void fields(V& v, Limits& limits) {
  v.required("cpu", limits.cpu, {.wire = 1});
  v.optional("memory", limits.memory, {.wire = 2});
}

TEST_CASE("Quantity is a field: a string or a number in JSON, a string when written") {
  const auto limits = decode<Limits>(R"({"cpu": 1.5, "memory": "2048Mi"})");
  REQUIRE(limits);
  CHECK(encode(*limits).dump() == R"({"cpu":"1500m","memory":"2Gi"})");
  CHECK(decode<Limits>(R"({"cpu": -8})")->cpu == quantity("-8"));
  CHECK(decode<Limits>(R"({"cpu": "8 GB"})").error().context ==
        "cpu: \"8 GB\" is not a quantity: no such suffix as \" GB\"");
  CHECK(decode<Limits>(R"({"cpu": true})").error().context ==
        "cpu: expected a string, found a boolean");
  CHECK(schema<Limits>()["properties"]["cpu"]["x-kubernetes-int-or-string"] == true);
}

}  // namespace
}  // namespace amdahl::kube
