#include "cli/table_text.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace amdahl::cli {
namespace {

Json row(const Json& cells, const std::string& ns = "n") {
  return {{"cells", cells}, {"object", {{"metadata", {{"namespace", ns}}}}}};
}

Json table(const Json& rows) {
  return {{"kind", "Table"},
          {"columnDefinitions",
           {{{"name", "Name"}, {"type", "string"}},
            {{"name", "Ready"}, {"type", "string"}},
            {{"name", "Node"}, {"type", "string"}, {"priority", 1}}}},
          {"rows", rows}};
}

TEST_CASE("A table is columns as wide as their widest cell") {
  TableText text({});
  REQUIRE(text.add(table(Json::array({row({"a", "1/1", "x"})}))));
  REQUIRE(text.add(table(Json::array({row({"longer", 2, "y"})}))));
  CHECK(text.header() == "NAME     READY\n");
  CHECK(text.take_rows() == "a        1/1\nlonger   2\n");
  CHECK(text.empty());
}

TEST_CASE("A table shows namespaces, less important columns and kinds when asked") {
  TableText text({.wide = true, .with_namespace = true, .prefix = "pod/"});
  REQUIRE(text.add(table(Json::array({row({"a", nullptr, true}, "research")}))));
  CHECK(text.header() == "NAMESPACE   NAME    READY   NODE\n");
  CHECK(text.take_rows() == "research    pod/a           true\n");
}

TEST_CASE("A table stays in line while it is watched") {
  TableText text({});
  REQUIRE(text.add(table(Json::array({row({"longer", "1", ""})}))));
  CHECK(text.take_rows() == "longer   1\n");
  REQUIRE(text.add({{"kind", "Table"}, {"rows", Json::array({row({"a", "2", ""})})}}));
  CHECK(text.take_rows() == "a        2\n");
}

TEST_CASE("A table counts characters and shows one line of each cell") {
  TableText text({});
  REQUIRE(text.add(table(Json::array({row({"\u00e4\u00f6", "x\ny", ""}),
                                      row({"abc", "\x1b[31m", ""}), row(Json::array({"few"}))}))));
  CHECK(text.take_rows() == "\u00e4\u00f6     x...\nabc     [31m\nfew    \n");
}

TEST_CASE("A table has no character that a terminal obeys", "[A1]") {
  TableText text({});
  REQUIRE(text.add(table(Json::array({row({"a\xc2\x9b"
                                           "31m",
                                           "b\x7f", ""}),
                                      row({"c\xe2\x80\xae", "d\xe2\x81\xa6\xc2\x85", ""}),
                                      row({"\xc2\xa0\xe2\x82\xac"})}))));
  CHECK(text.take_rows() ==
        "a 31m   b \n"
        "c       d  \n"
        "\xc2\xa0\xe2\x82\xac      \n");
}

TEST_CASE("A table whose parts have other types is shown as far as it goes") {
  TableText text({.with_namespace = true});
  const Json odd = Json::parse(R"({"kind": "Table", "columnDefinitions": [
      {"name": "Name", "priority": "high"}, {"name": 5, "priority": []}, 7, {"priority": 1}],
    "rows": [{"cells": ["a", "b"], "object": []},
             {"cells": {}, "object": {"metadata": 3}}, null]})");
  REQUIRE(text.add(odd));
  CHECK(text.header() == "NAMESPACE   NAME   5\n");
  CHECK(text.take_rows() == "            a      b\n                   \n");
}

TEST_CASE("What is no table is refused") {
  TableText text({});
  for (const Json& other : {Json(), Json::array(), Json{{"kind", "PodList"}}, Json{{"kind", 5}}})
    CHECK(text.add(other).error().code == Errc::kCorrupt);
}

}  // namespace
}  // namespace amdahl::cli
