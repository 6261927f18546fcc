#include "operator/kube/yaml_text.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/rng.hpp"
#include "operator/kube/yaml_bounded.hpp"

namespace amdahl::kube {
namespace {

using nlohmann::json;

json read_back(const json& value) {
  const std::string text = to_yaml(value);
  INFO(text);
  const auto node = parse_yaml(text, "text");
  INFO((node ? "" : node.error().context));
  REQUIRE(node);
  return to_json(*node);
}

TEST_CASE("to_yaml prints as kubectl does") {
  const json pod = {
      {"metadata", {{"name", "a"}, {"labels", json::object()}}},
      {"spec", {{"ports", {{{"port", 80}}, {{"port", 443}}}}, {"hosts", json::array()}}},
      {"data", {{"script", "echo\nls\n"}, {"on", "true"}}}};
  CHECK(to_yaml(pod) ==
        "data:\n  \"on\": \"true\"\n  script: |\n    echo\n    ls\n"
        "metadata:\n  labels: {}\n  name: a\n"
        "spec:\n  hosts: []\n  ports:\n    - port: 80\n    - port: 443\n");
}

TEST_CASE("to_yaml quotes what a reader would take for something else") {
  for (const char* text : {"",      " ",      "~",    "null",    "True",    "no",
                           "1",     "-1.5",   "1e3",  "0x1f",    "0o7",     "2026-11-16T08:00:00Z",
                           "a: b",  "- a",    "# a",  "a # b",   "*a",      "&a",
                           "!a",    "%a",     "@a",   "`a",      "{a",      "[a",
                           "|",     ">",      "'",    "\"",      "a\nb",    "\n",
                           "a\n",   "a\n\n",  " a\n", "a\n b\n", "a \nb\n", "\t",
                           "a\r\n", "---",    "...",  "\\",      "a\\nb",   "=",
                           "<<",    "\u00e4", "\x01", "12:30",   ".5",      "+1",
                           "1_000"}) {
    INFO(text);
    CHECK(read_back({{"key", text}}) == json{{"key", text}});
    CHECK(read_back({{text, "value"}}) == json{{text, "value"}});
    CHECK(read_back(json::array({text})) == json::array({text}));
  }
}

json random_value(Rng& rng, int depth) {
  constexpr std::string_view kLetters = "ab :-#'\"\n{}[],&*!|>%@~0123.\\\t";
  const std::uint64_t choice = rng.below(depth > 3 ? 4 : 6);
  if (choice == 0) return nullptr;
  if (choice == 1) return rng.chance(0.5);
  if (choice == 2) return static_cast<std::int64_t>(rng.below(1'000'000)) - 500'000;
  std::string text;
  for (std::uint64_t i = rng.below(8); i > 0; --i) text += kLetters[rng.below(kLetters.size())];
  if (choice == 3) return text;
  json value = choice == 4 ? json::array() : json::object();
  for (std::uint64_t i = rng.below(4); i > 0; --i) {
    if (choice == 4)
      value.push_back(random_value(rng, depth + 1));
    else
      value[text + std::to_string(i)] = random_value(rng, depth + 1);
  }
  return value;
}

TEST_CASE("to_yaml of any value reads back as that value") {
  Rng rng(4711);
  for (int round = 0; round < 2'000; ++round) {
    const json value = {{"value", random_value(rng, 0)}};
    REQUIRE(read_back(value) == value);
  }
}

}  // namespace
}  // namespace amdahl::kube
