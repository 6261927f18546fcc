// tables.json holds lists of kube-apiserver 1.34.4 and the tables it made of them.
#include "local/apiserver/kinds/table.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/kinds/recorded_test.hpp"

namespace amdahl::local {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST_CASE("Tables have kube-apiserver's columns and cells") {
  const KindTable table = recorded_kinds();
  for (const Json& row : recorded("tables.json")) {
    const std::string path = row.at("path");
    CAPTURE(path);
    KindPtr kind = kind_at(table, path);
    if (path.find("v1beta1") != std::string::npos) {
      kind = table.find("example.com", "v1beta1", "widgets");
    }
    REQUIRE(kind != nullptr);
    const auto now = parse_time(row.at("now").get<std::string>());
    REQUIRE(now);
    Json columns = Json::array();
    for (const Json& column : table_columns(*kind)) {
      columns.push_back(
          {column.at("name"), column.at("type"), column.at("format"), column.at("priority")});
    }
    CHECK(columns == row.at("columns"));
    std::vector<const Json*> objects;
    for (const Json& item : row.at("list").at("items")) objects.push_back(&item);
    const Json made = make_table(*kind, objects, {.now = *now});
    REQUIRE(made.at("rows").size() == row.at("cells").size());
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const Json& ours = made.at("rows")[i];
      CHECK(ours.at("cells") == row.at("cells")[i][0]);
      CHECK(ours.value("conditions", Json()) == row.at("cells")[i][1]);
      CHECK(ours.at("object").at("kind") == "PartialObjectMetadata");
    }
  }
}

TEST_CASE("A table carries as much of the object as asked for") {
  const KindTable table = recorded_kinds();
  const Json object =
      Json::parse(R"({"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {}})");
  const std::vector<const Json*> objects = {&object};
  const Kind& kind = *table.find("", "v1", "configmaps");
  const auto with = [&](IncludeObject include) {
    return make_table(kind, objects, {.include = include, .headers = false});
  };
  CHECK(with(IncludeObject::kObject).at("rows")[0].at("object") == object);
  CHECK(with(IncludeObject::kNone).at("rows")[0].at("object").is_null());
  CHECK_FALSE(with(IncludeObject::kMetadata).at("rows")[0].at("object").contains("data"));
  CHECK(with(IncludeObject::kMetadata).at("columnDefinitions").is_null());
}

TEST_CASE("Spans of time are written as kubectl does") {
  CHECK(human_duration(seconds(-5)) == "<invalid>");
  CHECK(human_duration(seconds(-1)) == "0s");
  CHECK(human_duration(seconds(119)) == "119s");
  CHECK(human_duration(seconds(120)) == "2m");
  CHECK(human_duration(seconds(125)) == "2m5s");
  CHECK(human_duration(minutes(10) + seconds(5)) == "10m");
  CHECK(human_duration(minutes(179)) == "179m");
  CHECK(human_duration(minutes(181)) == "3h1m");
  CHECK(human_duration(hours(8) + minutes(5)) == "8h");
  CHECK(human_duration(hours(47)) == "47h");
  CHECK(human_duration(hours(49)) == "2d1h");
  CHECK(human_duration(days(8)) == "8d");
  CHECK(human_duration(days(729)) == "729d");
  CHECK(human_duration(days(731)) == "2y1d");
  CHECK(human_duration(days(3000)) == "8y");
  CHECK(human_age("x", WallTime{}) == "<unknown>");
}

TEST_CASE("Printer columns read their part of JSONPath") {
  const Json object = Json::parse(R"({"a": {"b.c": 1, "d": [10, 20], "e": [
      {"type": "X", "status": "no"}, {"type": "Ready", "status": "yes"}]}, "flag": true})");
  const auto read = [&](const char* path) {
    const Json* value = json_path_first(object, path);
    return value == nullptr ? Json() : *value;
  };
  CHECK(read(".a.b\\.c") == 1);
  CHECK(read(".a['b.c']") == 1);
  CHECK(read(".a.d[1]") == 20);
  CHECK(read(".a.d[-1]") == 20);
  CHECK(read(".a.d[*]") == 10);
  CHECK(read(R"(.a.e[?(@.type=="Ready")].status)") == "yes");
  CHECK(read(R"(.a.e[?(@.type!="X")].status)") == "yes");
  CHECK(read(R"(.a.e[?(@.type == 'Ready')].status)") == "yes");
  CHECK(read(".flag") == true);
  for (const char* path : {".nope", "a", ".a.d[7]", ".a.d[x]", ".a.e[?(", ".a.e[?()]", ".a.e[",
                           ".a.e[?(@.type)]", ".a.d.x"}) {
    CAPTURE(path);
    CHECK(read(path).is_null());
  }
}

TEST_CASE("Cells of printer columns follow the column's type") {
  Kind kind{.group = "e.com", .version = "v1", .kind = "X"};
  for (const char* type : {"integer", "number", "string", "boolean", "date"}) {
    kind.columns.push_back({.name = type, .type = type, .json_path = ".v"});
  }
  const auto cells = [&](const char* value) {
    const Json object = {{"metadata", {{"name", "a"}}}, {"v", Json::parse(value)}};
    return table_cells(kind, object, WallTime{seconds(3600)});
  };
  CHECK(cells("7") == Json::parse(R"(["a", 7, 7, "7", null, null])"));
  CHECK(cells("7.5") == Json::parse(R"(["a", 7, 7.5, "7.5", null, null])"));
  CHECK(cells("true") == Json::parse(R"(["a", null, null, "true", true, null])"));
  CHECK(cells(R"("1970-01-01T00:00:00Z")") ==
        Json::parse(R"(["a", null, null, "1970-01-01T00:00:00Z", null, "60m"])"));
  CHECK(cells(R"("x")") == Json::parse(R"(["a", null, null, "x", null, "<invalid>"])"));
  CHECK(cells("null") == Json::parse(R"(["a", null, null, null, null, null])"));
}

}  // namespace
}  // namespace amdahl::local
