#include "local/apiserver/kinds/kind.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

namespace amdahl::local {
namespace {

Json crd() {
  return Json::parse(R"({
    "metadata": {"name": "widgets.example.com"},
    "spec": {
      "group": "example.com", "scope": "Namespaced",
      "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
      "versions": [
        {"name": "v1alpha1", "served": false, "storage": false},
        {"name": "v1beta1", "served": true, "storage": false,
         "schema": {"openAPIV3Schema": {"type": "object"}}},
        {"name": "v1", "served": true, "storage": true,
         "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.n",
                                                  "statusReplicasPath": ".status.n"}},
         "selectableFields": [{"jsonPath": ".spec.color"}],
         "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size",
                                       "priority": 1}],
         "schema": {"openAPIV3Schema": {"type": "object", "description": "one"}}}]}})");
}

TEST_CASE("KindTable knows the built-in kinds by resource and by kind") {
  const KindTable table;
  const KindPtr pods = table.find("", "v1", "pods");
  REQUIRE(pods != nullptr);
  CHECK(pods->kind == "Pod");
  CHECK(pods->list_kind == "PodList");
  CHECK(pods->api_version() == "v1");
  CHECK(pods->namespaced);
  CHECK(pods->has_status);
  CHECK_FALSE(pods->has_scale);
  CHECK(pods->subresource("eviction")->group == "policy");
  CHECK(pods->subresource("exec") == nullptr);
  CHECK(table.find_kind("apps", "v1", "Deployment") == table.find("apps", "v1", "deployments"));
  CHECK(table.find("apps", "v1", "deployments")->has_scale);
  CHECK(table.find("", "v1", "deployments") == nullptr);
  CHECK(table.find("events.k8s.io", "v1", "events")->storage_group.empty());
  CHECK_FALSE(table.find("", "v1", "namespaces")->can("deletecollection"));
  CHECK(table.find("authorization.k8s.io", "v1", "subjectaccessreviews")->verbs ==
        std::vector<std::string>{"create"});
}

TEST_CASE("KindTable adds, replaces and removes the kinds of a definition") {
  KindTable table;
  const auto before = table.generation();
  REQUIRE(table.put_crd(crd()));
  CHECK(table.generation() != before);
  CHECK(table.versions("example.com") == std::vector<std::string>{"v1", "v1beta1"});
  const KindPtr widget = table.find("example.com", "v1", "widgets");
  REQUIRE(widget != nullptr);
  CHECK(widget->list_kind == "WidgetList");
  CHECK(widget->singular == "widget");
  CHECK(widget->has_status);
  CHECK(widget->scale.spec_replicas == ".spec.n");
  CHECK(widget->columns.at(0).priority == 1);
  CHECK(widget->schema->at("description") == "one");
  CHECK(field_label_allowed(*widget, "spec.color"));
  CHECK(table.find("example.com", "v1beta1", "widgets")->storage_version == "v1");
  CHECK_FALSE(table.find("example.com", "v1beta1", "widgets")->has_status);

  Json changed = crd();
  changed["spec"]["versions"].erase(1);
  REQUIRE(table.put_crd(changed));
  CHECK(table.find("example.com", "v1beta1", "widgets") == nullptr);
  CHECK(widget->kind == "Widget");  // what was handed out stays

  CHECK(table.remove_crd("widgets.example.com"));
  CHECK_FALSE(table.remove_crd("widgets.example.com"));
  CHECK(table.versions("example.com").empty());
}

TEST_CASE("KindTable refuses definitions that would be ambiguous, and stays as it was") {
  KindTable table;
  REQUIRE(table.put_crd(crd()));
  const auto generation = table.generation();
  const auto refused = [&](auto&& change) {
    Json bad = crd();
    change(bad);
    return !table.put_crd(bad).has_value() && table.generation() == generation;
  };
  CHECK(refused([](Json& bad) { bad["metadata"]["name"] = "gears.example.com"; }));
  CHECK(refused([](Json& bad) { bad["spec"]["preserveUnknownFields"] = true; }));
  CHECK(refused([](Json& bad) { bad["spec"]["versions"][2]["storage"] = false; }));
  CHECK(refused([](Json& bad) { bad["spec"]["versions"][1]["storage"] = true; }));
  CHECK(refused([](Json& bad) { bad["spec"]["versions"][1]["name"] = "v1"; }));
  CHECK(refused([](Json& bad) { bad["spec"]["names"].erase("kind"); }));
  CHECK(refused([](Json& bad) { bad["spec"] = 7; }));
  CHECK(refused([](Json& bad) {  // the kind Widget is taken
    bad["metadata"]["name"] = "gadgets.example.com";
    bad["spec"]["names"]["plural"] = "gadgets";
  }));
  CHECK(table.find("example.com", "v1", "widgets") != nullptr);
}

TEST_CASE("Versions are ordered as Kubernetes orders them") {
  std::vector<std::string> versions = {"foo10", "v1alpha1",  "v11beta2", "v1", "v10",
                                       "foo1",  "v12alpha1", "v3beta1",  "v2", "v1beta1"};
  std::ranges::sort(versions, version_before);
  CHECK(versions == std::vector<std::string>{"v10", "v2", "v1", "v11beta2", "v3beta1", "v1beta1",
                                             "v12alpha1", "v1alpha1", "foo1", "foo10"});
}

TEST_CASE("Field labels read what Kubernetes compares") {
  const KindTable table;
  const Json pod = Json::parse(R"({"metadata": {"name": "a"}, "spec": {"nodeName": "n1"},
      "status": {"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}]}})");
  const Json event = Json::parse(R"({"involvedObject": {"kind": "Pod", "name": "a"},
      "reportingComponent": "ctl"})");
  const Kind& pods = *table.find("", "v1", "pods");
  const Kind& events = *table.find("events.k8s.io", "v1", "events");
  CHECK(field_label_value(pods, pod, "spec.nodeName") == "n1");
  CHECK(field_label_value(pods, pod, "spec.hostNetwork") == "false");
  CHECK(field_label_value(pods, pod, "status.podIPs").empty());
  CHECK(field_label_value(events, event, "regarding.kind") == "Pod");
  CHECK(field_label_value(events, event, "reportingController") == "ctl");
  CHECK(field_label_value(*table.find("", "v1", "events"), event, "source") == "ctl");
  CHECK(field_label_value(*table.find("batch", "v1", "jobs"), pod, "status.successful") == "0");
  CHECK(field_label_allowed(pods, "metadata.namespace"));
  CHECK_FALSE(field_label_allowed(pods, "spec.priority"));
  CHECK_FALSE(field_label_allowed(*table.find("", "v1", "nodes"), "metadata.namespace"));
}

}  // namespace
}  // namespace amdahl::local
