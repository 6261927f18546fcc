#include "base/validate.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "base/fields_test_types.hpp"

namespace amdahl {
namespace {

using sample::Everything;

struct Named {
  std::string name = {};
  double share = 0;
  PackedMap labels = {};
};
template <class V>
constexpr void fields(V& v, Named& named) {
  v.required("name", named.name, {.length_min = 2, .length_max = 4, .pattern = "^[a-z]+$"});
  v.optional("share", named.share, {.min = 0, .max = 1});
  v.optional("labels", named.labels, {.length_max = 3, .items_max = 2});
}

std::string fault_of(const auto& object) {
  const auto result = validate(object);
  if (result) return "fine";
  CHECK(result.error().code == Errc::kInvalid);
  return result.error().context;
}

TEST_CASE("validate finds the first fault and its path", "[A8]") {
  Everything good{.name = "x", .ports = {{"http", 80}}, .words = {"abcde"}};
  CHECK(fault_of(good) == "fine");
  const std::pair<std::function<void(Everything&)>, std::string_view> rows[] = {
      {[](Everything& e) { e.ports.push_back({"a", 0}); }, "ports[1].port: 0 is less than 1"},
      {[](Everything& e) { e.ports[0].port = 65536; }, "ports[0].port: 65536 is more than 65535"},
      {[](Everything& e) { e.ports[0].name = "much too long"; },
       "ports[0].name: longer than 8 characters"},
      {[](Everything& e) { e.ports.resize(3, {"a", 1}); }, "ports: more than 2 items"},
      {[](Everything& e) { e.words = {"a", "abcdef"}; }, "words[1]: longer than 5 characters"},
      {[](Everything& e) { e.retry.attempts = -1; }, "retry.attempts: -1 is less than 0"},
      {[](Everything& e) { e.other_retry = {.attempts = -2}; },
       "otherRetry.attempts: -2 is less than 0"},
      {[](Everything& e) { e.mode = static_cast<sample::Mode>(9); }, "mode: not one of Fast, Safe"},
      {[](Everything& e) { e.counts = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}}; },
       "counts: more than 3 items"},
      {[](Everything& e) { e.ports.push_back({"http", 81}); },
       "ports[1].name: an earlier item has the same"},
  };
  for (const auto& [spoil, expected] : rows) {
    Everything bad = good;
    spoil(bad);
    CHECK(fault_of(bad) == expected);
  }
}

TEST_CASE("validate counts characters, not bytes, and applies patterns") {
  CHECK(fault_of(Named{.name = "ab"}) == "fine");
  CHECK(fault_of(Named{.name = "a"}) == "name: shorter than 2 characters");
  CHECK(fault_of(Named{.name = "abcde"}) == "name: longer than 4 characters");
  CHECK(fault_of(Named{.name = "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"}) ==
        "name: does not match ^[a-z]+$");
  CHECK(fault_of(Named{.name = "ab\n"}) == "name: does not match ^[a-z]+$");
  CHECK(fault_of(Named{.name = "abc", .share = 1.5}) == "share: 1.5 is more than 1");
  CHECK(fault_of(Named{.name = "abc", .share = std::numeric_limits<double>::quiet_NaN()}) ==
        "share: nan is less than 0");
  CHECK(fault_of(Named{.name = "abc", .labels = {{"k", "long"}}}) ==
        "labels[\"k\"]: longer than 3 characters");
}

TEST_CASE("validate wants an object where free-form parts are objects") {
  CHECK(fault_of(sample::Open{}) == "fine");
  CHECK(fault_of(sample::Open{.raw = Json::object(), .patches = {1, "x"}}) == "fine");
  CHECK(fault_of(sample::Open{.raw = "text"}) == "raw: not an object");
}

}  // namespace
}  // namespace amdahl
