#include "checkpoint/format/state.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/rng.hpp"

namespace amdahl::checkpoint {
namespace {

using Json = nlohmann::json;

TEST_CASE("A state may hold what trainers hold, and names its tensors") {
  const auto tensors = check_state(Json::parse(R"({
    "a": [1, -2, true, null, "x", {"$tensor": "t1"}], "b": {"$tuple": [{"$tensor": "t2"}]},
    "c": {"$map": [[0, {"$float": "1e-05"}], [{"$tuple": [1]}, {"$tensor": "t1"}]]},
    "d": {"$int": "123456789012345678901234567890"}, "e": {"$bytes": "AAE="}, "f": {"$bytes": ""},
    "g": {"$int": "-9223372036854775809"}, "h": {}})"));
  REQUIRE(tensors);
  CHECK(*tensors == std::vector<std::string>{"t1", "t2", "t1"});
  CHECK(check_state(nullptr));
}

TEST_CASE("A state with anything else is refused, with its place") {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {R"({"a": 1.5})", R"(state."a": write floats as text)"},
      {R"([{"$pickle": "x"}])", R"(state[0]: not a "$pickle" that is known)"},
      {R"({"$x": 1, "y": 2})", R"(state: "$x" is a reserved name)"},
      {R"({"$float": "1"})", R"(state: not a "$float" that is known)"},
      {R"({"$float": "1.50"})", R"(state: not a "$float" that is known)"},
      {R"({"$float": 1})", R"(state: not a "$float" that is known)"},
      {R"({"$float": "0x1p3"})", R"(state: not a "$float" that is known)"},
      {R"({"$float": "infinity"})", R"(state: not a "$float" that is known)"},
      {R"({"$int": "12"})", R"(state: not a "$int" that is known)"},
      {R"({"$int": "0123456789012345678901234567890"})", R"(state: not a "$int" that is known)"},
      {R"({"$bytes": "AA"})", R"(state: not a "$bytes" that is known)"},
      {R"({"$bytes": 3})", R"(state: not a "$bytes" that is known)"},
      {R"({"$tensor": ""})", R"(state: not a "$tensor" that is known)"},
      {R"({"$tuple": {}})", R"(state: not a "$tuple" that is known)"},
      {R"({"$map": [[1, 2], [1]]})", R"(state[1]: expected a key and a value)"},
  };
  for (const auto& [text, why] : rows) {
    const auto checked = check_state(Json::parse(text));
    INFO(text);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().context == why);
  }
  Json deep = 1;
  for (int i = 0; i <= kStateDepthMax; ++i) deep = Json::array({deep});
  CHECK(check_state(deep).error().code == Errc::kTooLarge);
  CHECK(check_state(deep[0]));
}

TEST_CASE("Floats are written as Python writes them, and read back to the bit") {
  const std::vector<std::pair<double, std::string>> rows = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {0.1, "0.1"},
      {1e15, "1000000000000000.0"},
      {1e16, "1e+16"},
      {1e-4, "0.0001"},
      {1e-5, "1e-05"},
      {1.5e300, "1.5e+300"},
      {5e-324, "5e-324"},
      {std::numeric_limits<double>::infinity(), "inf"},
      {-std::numeric_limits<double>::infinity(), "-inf"},
      {std::numeric_limits<double>::quiet_NaN(), "nan"}};
  for (const auto& [value, text] : rows) {
    CHECK(float_text(value) == text);
    CHECK(is_float_text(text));
  }
  Rng rng(2);
  for (int i = 0; i < 2000; ++i) {
    const auto value = std::bit_cast<double>(rng.next());
    CHECK(is_float_text(float_text(value)));
  }
  for (const std::string text :
       {"", "1", "1.", "+1.0", " 1.0", "1.0 ", "NaN", "-nan", "1e5", "1e999"})
    CHECK_FALSE(is_float_text(text));
}

}  // namespace
}  // namespace amdahl::checkpoint
