#include "local/apiserver/kinds/openapi.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "local/apiserver/kinds/event_conversion.hpp"
#include "local/apiserver/kinds/recorded_test.hpp"

namespace amdahl::local {
namespace {

void collect(const Json& node, std::set<std::string>& refs) {
  if (node.is_object() && node.contains("$ref") && node["$ref"].is_string()) {
    refs.insert(node["$ref"].get<std::string>());
  }
  if (node.is_structured()) {
    for (const Json& inner : node) collect(inner, refs);
  }
}

TEST_CASE("OpenAPI documents are closed and have what kubectl looks for") {
  const BuiltinSchemas schemas;
  const KindTable table = recorded_kinds();
  std::vector<std::pair<std::string, std::string>> served = {{"", "v1"}};
  for (const std::string& group : table.groups()) {
    for (const std::string& version : table.versions(group)) served.emplace_back(group, version);
  }
  for (const auto& [group, version] : served) {
    CAPTURE(group, version);
    const auto document = openapi_document(table, schemas, group, version);
    REQUIRE(document);
    const Json& known = document->at("components").at("schemas");
    std::set<std::string> refs;
    collect(*document, refs);
    for (const std::string& ref : refs) {
      CAPTURE(ref);
      CHECK(known.contains(ref.substr(ref.rfind('/') + 1)));
    }
    CHECK(document->dump().find("x-amdahl") == std::string::npos);
    for (const KindPtr& kind : table.of(group, version)) {
      bool found = false;
      for (const auto& [name, schema] : known.items()) {
        for (const Json& gvk : schema.value("x-kubernetes-group-version-kind", Json::array())) {
          found = found || (gvk.at("kind") == kind->kind && gvk.at("version") == kind->version);
        }
      }
      CHECK(found);
    }
  }
  CHECK_FALSE(openapi_document(table, schemas, "nothing", "v1"));
}

TEST_CASE("OpenAPI paths name the kind, the action and fieldValidation") {
  const BuiltinSchemas schemas;
  const KindTable table = recorded_kinds();
  const auto document = openapi_document(table, schemas, "example.com", "v1");
  REQUIRE(document);
  const Json& item =
      document->at("paths").at("/apis/example.com/v1/namespaces/{namespace}/widgets/{name}");
  const Json& patch = item.at("patch");
  CHECK(patch.at("x-kubernetes-action") == "patch");
  CHECK(patch.at("x-kubernetes-group-version-kind").at("kind") == "Widget");
  std::set<std::string> names;
  for (const Json& parameter : patch.at("parameters")) names.insert(parameter.at("name"));
  CHECK(names == std::set<std::string>{"dryRun", "fieldManager", "fieldValidation", "force"});
  CHECK(patch.at("requestBody").at("content").size() == 3);  // no strategic merge
  const Json& widget = document->at("components").at("schemas").at("com.example.v1.Widget");
  CHECK(widget.at("properties").at("spec").at("properties").at("size").at("type") == "integer");
  CHECK(document->at("paths").contains("/apis/example.com/v1/gears/{name}"));
}

TEST_CASE("The OpenAPI index changes where a definition changes") {
  KindTable table = recorded_kinds();
  const Json before = openapi_index(table);
  const std::string url = before.at("paths").at("api/v1").at("serverRelativeURL");
  CHECK(url.starts_with("/openapi/v3/api/v1?hash="));
  Json crd = recorded("discovery.json").at("crds")[1];
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = "changed";
  REQUIRE(table.put_crd(crd));
  const Json after = openapi_index(table);
  CHECK(after.at("paths").at("api/v1") == before.at("paths").at("api/v1"));
  CHECK(after.at("paths").at("apis/example.com/v1") !=
        before.at("paths").at("apis/example.com/v1"));
}

// Both forms as kube-apiserver 1.34.4 gave them for one event.
TEST_CASE("Events read the same through both groups") {
  const Json core = Json::parse(R"({"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e2"},
      "involvedObject": {"kind": "Pod", "namespace": "default", "name": "a"}, "reason": "R",
      "message": "m", "source": {}, "firstTimestamp": null, "lastTimestamp": null,
      "type": "Normal", "eventTime": "2026-01-01T00:00:00.123456Z", "action": "x",
      "reportingComponent": "c.d/e", "reportingInstance": "i"})");
  const Json other = Json::parse(R"({"kind": "Event", "apiVersion": "events.k8s.io/v1",
      "metadata": {"name": "e2"}, "eventTime": "2026-01-01T00:00:00.123456Z",
      "reportingController": "c.d/e", "reportingInstance": "i", "action": "x", "reason": "R",
      "regarding": {"kind": "Pod", "namespace": "default", "name": "a"}, "note": "m",
      "type": "Normal", "deprecatedSource": {}, "deprecatedFirstTimestamp": null,
      "deprecatedLastTimestamp": null})");
  CHECK(event_to_events_v1(core) == other);
  CHECK(event_to_core(other) == core);
  CHECK(event_to_core(Json::parse(R"({"metadata": {}})")).at("source") == Json::object());
}

}  // namespace
}  // namespace amdahl::local
