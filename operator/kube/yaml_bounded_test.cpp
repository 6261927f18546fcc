#include "operator/kube/yaml_bounded.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace amdahl::kube {
namespace {

TEST_CASE("YAML becomes a tree that knows its places", "[C3]") {
  const auto tree = parse_yaml("a: 1\nb:\n  - x\n  - {k: \"v\"}\nc:\n", "f");
  REQUIRE(tree);
  CHECK(tree->keys == std::vector<std::string>{"a", "b", "c"});
  CHECK(tree->find("a")->text == "1");
  CHECK(tree->find("a")->plain);
  const YamlNode* list = tree->find("b");
  REQUIRE(list->items.size() == 2);
  CHECK(list->items[0].line == 3);
  CHECK(list->items[0].column == 5);
  CHECK_FALSE(list->items[1].find("k")->plain);
  CHECK(tree->find("c")->kind == YamlKind::kNull);
  CHECK(tree->find("d") == nullptr);
  CHECK(list->find("k") == nullptr);
}

TEST_CASE("An empty YAML file is nothing", "[C3]") {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n"}) {
    INFO(text);
    const auto tree = parse_yaml(text, "f");
    REQUIRE(tree);
    CHECK(tree->kind == YamlKind::kNull);
  }
}

TEST_CASE("Malformed YAML is refused with file, line and column", "[C3]") {
  const auto check = [](std::string_view text, Errc code, std::string_view expected) {
    INFO(text);
    const auto tree = parse_yaml(text, "f.yaml");
    REQUIRE_FALSE(tree);
    CHECK(tree.error().code == code);
    CHECK_THAT(tree.error().context, Catch::StartsWith(std::string(expected)));
  };
  check("a: [1, 2\nb: 3\n", Errc::kInvalid, "f.yaml:");
  check("a: {b: 1\n", Errc::kInvalid, "f.yaml:");
  check("\ta: 1\n", Errc::kInvalid, "f.yaml:");
  check("a: *nobody\n", Errc::kInvalid, "f.yaml:1:4: ");
  check("a: 1\nb: 2\na: 3\n", Errc::kInvalid, "f.yaml:3:1: the key \"a\" is there twice");
  check("x: {a: 1, a: 2}\n", Errc::kInvalid, "f.yaml:1:11: the key \"a\" is there twice");
  check("? [1, 2]\n: x\n", Errc::kInvalid, "f.yaml:1:3: a key is not plain text");
  check("a: &x {k: v}\nb:\n  <<: *x\n", Errc::kInvalid, "f.yaml:3:3: merge keys");
  check("a: 1\n---\nb: 2\n", Errc::kInvalid, "f.yaml:2:1: there is more than one document");
}

TEST_CASE("A quote that is never closed is refused where it begins", "[C3]") {
  const auto check = [](std::string_view text, std::string_view place) {
    INFO(text);
    const auto tree = parse_yaml(text, "f.yaml");
    REQUIRE_FALSE(tree);
    CHECK(tree.error().code == Errc::kInvalid);
    CHECK(tree.error().context ==
          fmt::format("f.yaml:{}: the quoted text that begins here has no end", place));
  };
  check("a: 1\nb: \"abc\n", "2:4");
  check("a: 'abc\n", "1:4");
  check("a: \"", "1:4");
  check("- '", "1:3");
  check("'\n", "1:1");
  check("a: 'b\nc: 1\n", "1:4");  // all that follows was taken for text
  check("a: \"x\\\n", "1:4");
  check("a: &x \"x\n", "1:4");
  check("a: !!str 'x\n", "1:4");
  check("\"a: 1\n", "1:1");
  // In the middle of a line yaml-cpp sees it by itself.
  for (const char* text : {"a: \"abc", "a: 'it''", "a: [\"x", "a: \"abc\\\""}) {
    INFO(text);
    const auto tree = parse_yaml(text, "f");
    REQUIRE_FALSE(tree);
    CHECK_THAT(tree.error().context, Catch::StartsWith("f:1:"));
  }
  for (const char* text :
       {"a: \"x\"", "a: 'x'\n\n", "a: ''", "a: ''''\n", "a: \"\\\"\"\n", "a: \"x\" # '\n",
        "a: \"x\"\n# \"", "a: |\n  \"x\n", "a: !!str |\n  'x", "a: b\"\n", "- 'a'\n- b'\n",
        "a: \"x\n\n  y\"\n", "a: \"x\"\n...\n", "? 'x'\n"}) {
    INFO(text);
    CHECK(parse_yaml(text, "f"));
  }
}

TEST_CASE("An alias that contains itself is refused before it is followed", "[C3]") {
  for (const char* text : {"a: &x [*x]\n", "a: &x {b: {c: [1, *x]}}\n", "&x a: *x\nb: &y {c: *y}\n",
                           "- &a [&b [*a]]\n"}) {
    INFO(text);
    const auto tree = parse_yaml(text, "f");
    REQUIRE_FALSE(tree);
    CHECK(tree.error().code == Errc::kInvalid);
    CHECK_THAT(tree.error().context, Catch::Contains("refers to the value that contains it"));
  }
}

TEST_CASE("Aliases are copied where they stand", "[C3]") {
  const auto tree = parse_yaml("a: &x {k: v}\nb: *x\nc: [*x, *x]\n", "f");
  REQUIRE(tree);
  CHECK(tree->find("b")->find("k")->text == "v");
  CHECK(tree->find("c")->items[1].find("k")->text == "v");
}

// Each level is nine aliases of the one before it.
std::string billion_laughs(int levels) {
  std::string text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
  for (int level = 1; level < levels; ++level) {
    std::string list;
    for (int i = 0; i < 9; ++i) list += fmt::format("{}*a{}", i == 0 ? "" : ", ", level - 1);
    text += fmt::format("a{}: &a{} [{}]\n", level, level, list);
  }
  return text;
}

TEST_CASE("Billion laughs are refused before they are expanded", "[C3]") {
  const auto tree = parse_yaml(billion_laughs(12), "f");
  REQUIRE_FALSE(tree);
  CHECK(tree.error().code == Errc::kTooLarge);
  CHECK(parse_yaml(billion_laughs(3), "f"));
}

TEST_CASE("Every cap of a YAML file holds", "[C3]") {
  const auto refused = [](std::string_view text, const YamlLimits& limits) {
    const auto tree = parse_yaml(text, "f", limits);
    return !tree && tree.error().code == Errc::kTooLarge;
  };
  CHECK(refused("a: 12345", {.bytes_max = 7}));
  CHECK_FALSE(refused("a: 12345", {.bytes_max = 8}));
  CHECK(refused("[[[1]]]", {.depth_max = 2}));
  CHECK_FALSE(refused("[[[1]]]", {.depth_max = 3}));
  CHECK(refused("[1, 2, 3]", {.nodes_max = 3}));
  CHECK_FALSE(refused("[1, 2, 3]", {.nodes_max = 4}));
  CHECK(refused("a: &x 12345\nb: *x\nc: *x", {.text_bytes_max = 20}));
  CHECK(refused("a: &x 1\nb: [*x, *x, *x]", {.aliases_max = 2}));
  CHECK_FALSE(refused("a: &x 1\nb: [*x, *x, *x]", {.aliases_max = 3}));
  // Aliases of aliases nest although the text does not.
  CHECK(refused("a: &a [[1]]\nb: &b [[*a]]\nc: [[*b]]", {.depth_max = 6}));
  CHECK_FALSE(refused("a: &a [[1]]\nb: &b [[*a]]\nc: [[*b]]", {.depth_max = 7}));
  CHECK(refused(std::string(100'000, '['), {}));
  std::string wide;
  for (int i = 0; i < 50'000; ++i) wide += fmt::format("k{}: {}\n", i, i);
  CHECK_FALSE(refused(wide, {}));
}

TEST_CASE("YAML becomes JSON by the core schema", "[C3]") {
  const auto tree = parse_yaml(
      "{i: -7, r: 2.5, t: true, f: false, n: null, e: , q: \"1\", s: yes, l: [1, a], v: 1.2.3}",
      "f");
  REQUIRE(tree);
  CHECK(to_json(*tree) == nlohmann::json::parse(R"({"i": -7, "r": 2.5, "t": true, "f": false,
      "n": null, "e": null, "q": "1", "s": "yes", "l": [1, "a"], "v": "1.2.3"})"));
}

}  // namespace
}  // namespace amdahl::kube
