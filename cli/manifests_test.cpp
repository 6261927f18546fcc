#include "cli/manifests.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace amdahl::cli {
namespace {

std::vector<std::string> names_in(std::string_view text) {
  const auto manifests = parse_manifests(text, "file");
  INFO((manifests ? "" : manifests.error().context));
  REQUIRE(manifests);
  std::vector<std::string> names;
  for (const Manifest& one : *manifests) names.push_back(one.kind + "/" + one.key.name);
  return names;
}

std::string refusal(std::string_view text) {
  const auto manifests = parse_manifests(text, "file");
  REQUIRE_FALSE(manifests);
  return manifests.error().context;
}

TEST_CASE("Manifests are documents of a file, in their order") {
  using Names = std::vector<std::string>;
  const std::string a = "apiVersion: v1\nkind: A\nmetadata: {name: a}\n";
  const std::string b = "apiVersion: x.org/v2\nkind: B\nmetadata:\n  name: b\n  namespace: n\n";
  CHECK(names_in(a) == Names{"A/a"});
  CHECK(names_in(a + "---\n" + b) == Names{"A/a", "B/b"});
  CHECK(names_in("---\n" + a + "--- # next\n" + b + "---\n") == Names{"A/a", "B/b"});
  CHECK(names_in("# nothing\n---\n" + b) == Names{"B/b"});
  CHECK(names_in(R"({"apiVersion":"v1","kind":"A","metadata":{"name":"a"}})") == Names{"A/a"});
  CHECK(names_in("apiVersion: v1\nkind: List\nitems:\n- " +
                 std::string("{apiVersion: v1, kind: A, metadata: {name: a}}\n")) == Names{"A/a"});
  const auto both = parse_manifests(b, "file");
  CHECK(both->front().group == "x.org");
  CHECK(both->front().version == "v2");
  CHECK(both->front().key == kube::ObjectKey{"n", "b"});
}

TEST_CASE("Manifests keep a line of dashes inside a text") {
  const auto manifests = parse_manifests(
      "apiVersion: v1\nkind: A\nmetadata: {name: a}\ndata:\n  text: |\n    x\n    ---\n    y\n",
      "file");
  REQUIRE(manifests);
  CHECK(manifests->front().object["data"]["text"] == "x\n---\ny\n");
}

TEST_CASE("Manifests that are incomplete are refused with file and place") {
  CHECK_THAT(refusal(""), Catch::Contains("file") && Catch::Contains("no object"));
  CHECK_THAT(refusal("kind: A\n"), Catch::Contains("apiVersion is missing"));
  CHECK_THAT(refusal("apiVersion: v1\n"), Catch::Contains("kind is missing"));
  CHECK_THAT(refusal("apiVersion: v1\nkind: A\n"), Catch::Contains("metadata.name"));
  CHECK_THAT(refusal("- a\n"), Catch::Contains("not an object"));
  CHECK_THAT(refusal("apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\na: [\n"),
             Catch::Contains("document from line 4"));
  CHECK_THAT(refusal("apiVersion: v1\nkind: PodList\nitems: [{kind: Pod}]\n"),
             Catch::Contains("item 1"));
}

TEST_CASE("An object goes to its own namespace, or to the one asked for") {
  Manifest manifest{.kind = "A", .key = {"", "a"}, .place = "file"};
  CHECK(*place_of(manifest, true, "n", false) == kube::ObjectKey{"n", "a"});
  CHECK(*place_of(manifest, false, "n", true) == kube::ObjectKey{"", "a"});
  manifest.key.ns = "own";
  CHECK(*place_of(manifest, true, "n", false) == kube::ObjectKey{"own", "a"});
  CHECK(*place_of(manifest, true, "own", true) == kube::ObjectKey{"own", "a"});
  CHECK_THAT(place_of(manifest, true, "n", true).error().context,
             Catch::Contains("namespace own") && Catch::Contains("file"));
}

}  // namespace
}  // namespace amdahl::cli
