// Driven by recorded answers: created.json (what is stored), refused.json (why not) and
// updates.json (both, for updates).
#include "local/apiserver/kinds/builtin_rules.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "local/apiserver/kinds/recorded_test.hpp"

namespace amdahl::local {
namespace {

// Reason, field and message, without the differences of Go structs that follow a line break.
std::set<std::string> texts(const std::vector<Cause>& causes) {
  std::set<std::string> texts;
  for (const Cause& cause : causes) {
    texts.insert(cause.reason + " | " + cause.field + " | " + cause.message);
  }
  return texts;
}

std::set<std::string> recorded_texts(const Json& causes) {
  std::set<std::string> texts;
  for (const Json& cause : causes) {
    const std::string message = cause.at("message");
    texts.insert(cause.at("reason").get<std::string>() + " | " +
                 cause.at("field").get<std::string>() + " | " +
                 message.substr(0, message.find('\n')));
  }
  return texts;
}

// What needs more than the object is taken from the recording.
void allocate(Json& object, const Json& result) {
  Json& spec = object["spec"];
  if (result.at("kind") == "Service") {
    for (const char* name : {"clusterIP", "clusterIPs", "healthCheckNodePort"}) {
      if (result.at("spec").contains(name)) spec[name] = result.at("spec").at(name);
    }
    for (std::size_t i = 0; spec.contains("ports") && i < spec["ports"].size(); ++i) {
      const Json& port = result.at("spec").at("ports").at(i);
      if (port.contains("nodePort")) spec["ports"][i]["nodePort"] = port.at("nodePort");
    }
  }
  if (result.at("kind") == "Pod") spec["priority"] = result.at("spec").at("priority");
}

TEST_CASE("A created object is stored as kube-apiserver stores it") {
  const BuiltinSchemas schemas;
  const KindTable table = recorded_kinds();
  for (const Json& row : recorded("created.json")) {
    const KindPtr kind = kind_at(table, row.at("path"));
    REQUIRE(kind != nullptr);
    const Json& result = row.at("result");
    CAPTURE(kind->kind, row.at("body").dump());
    Json body = row.at("body");
    for (const char* name : {"namespace", "uid", "creationTimestamp"}) {
      if (result.at("metadata").contains(name)) {
        body["metadata"][name] = result.at("metadata").at(name);
      }
    }
    Json object = read_body(schemas, *kind, body);
    prepare_create(*kind, object);
    CHECK(texts(validate_create(*kind, object)).empty());
    if (object.contains("spec") && object["spec"].is_object()) allocate(object, result);
    CHECK(object == result);
    if (object != result) UNSCOPED_INFO(Json::diff(result, object).dump(1));
    // What is stored reads as itself.
    CHECK(read_body(schemas, *kind, result) == result);
  }
}

TEST_CASE("A wrong object is refused with kube-apiserver's causes") {
  const BuiltinSchemas schemas;
  const KindTable table = recorded_kinds();
  for (const Json& row : recorded("refused.json")) {
    const KindPtr kind = kind_at(table, row.at("path"));
    REQUIRE(kind != nullptr);
    CAPTURE(kind->kind, row.at("body").dump());
    Json body = row.at("body");
    if (kind->namespaced) body["metadata"]["namespace"] = "default";
    body["metadata"]["uid"] = "u";
    Json object = read_body(schemas, *kind, body);
    prepare_create(*kind, object);
    CHECK(texts(validate_create(*kind, object)) == recorded_texts(row.at("causes")));
  }
}

TEST_CASE("The causes of a refused definition have kube-apiserver's order") {
  const BuiltinSchemas schemas;
  const KindTable table = recorded_kinds();
  const auto fields = [](const auto& causes, auto field_of) {
    std::vector<std::string> all;
    for (const auto& cause : causes) all.push_back(field_of(cause));
    return all;
  };
  for (const Json& row : recorded("refused.json")) {
    const KindPtr kind = kind_at(table, row.at("path"));
    if (kind->kind != "CustomResourceDefinition") continue;
    CAPTURE(row.at("body").dump());
    Json object = read_body(schemas, *kind, row.at("body"));
    object["metadata"]["uid"] = "u";
    prepare_create(*kind, object);
    CHECK(fields(validate_create(*kind, object), [](const Cause& cause) { return cause.field; }) ==
          fields(row.at("causes"), [](const Json& cause) { return cause.at("field"); }));
  }
}

TEST_CASE("An update is stored or refused as kube-apiserver does") {
  const BuiltinSchemas schemas;
  const KindTable table = recorded_kinds();
  for (const Json& row : recorded("updates.json")) {
    const KindPtr kind = kind_at(table, row.at("path"));
    REQUIRE(kind != nullptr);
    const bool status = row.at("status");
    const Json& old = row.at("old");
    CAPTURE(kind->kind, status, Json::diff(old, row.at("body")).dump());
    Json object = read_body(schemas, *kind, row.at("body"));
    std::vector<Cause> causes;
    if (status) {
      prepare_status_update(*kind, old, object);
      causes = validate_status_update(*kind, old, object);
    } else {
      prepare_update(*kind, old, object);
      causes = validate_update(*kind, old, object);
    }
    CHECK(texts(causes) == recorded_texts(row.value("causes", Json::array())));
    if (row.contains("result")) {
      CHECK(Json::diff(row.at("result"), object).dump() == "[]");
    }
  }
}

TEST_CASE("A custom resource without status subresource counts a changed status") {
  const Kind kind{.group = "example.com", .version = "v1", .kind = "Gear", .has_generation = true};
  const Json old =
      Json::parse(R"({"metadata": {"name": "a", "generation": 4}, "status": {"n": 1}})");
  Json changed = old;
  changed["status"]["n"] = 2;
  prepare_update(kind, old, changed);
  CHECK(changed["metadata"]["generation"] == 5);
  CHECK(changed["status"]["n"] == 2);
}

TEST_CASE("A definition is established once") {
  Json crd = Json::parse(R"({"spec": {"names": {"plural": "as", "kind": "A"},
      "versions": [{"name": "v1", "storage": true}]}, "status": {"conditions": null}})");
  establish_crd(crd, "2026-01-01T00:00:00Z");
  const Json first = crd;
  establish_crd(crd, "2027-01-01T00:00:00Z");
  CHECK(crd == first);
  CHECK(crd["status"]["storedVersions"] == Json::array({"v1"}));
  CHECK(crd["status"]["acceptedNames"]["kind"] == "A");
  CHECK(crd["status"]["conditions"].size() == 2);
}

TEST_CASE("A version that holds objects stays in its definition") {
  const KindTable table;
  const KindPtr kind = table.find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  REQUIRE(kind != nullptr);
  Json crd = Json::parse(R"({"metadata": {"name": "as.b.c", "uid": "u"}, "spec": {"group": "b.c",
      "scope": "Cluster", "names": {"plural": "as", "singular": "a", "kind": "A", "listKind": "L"},
      "versions": [{"name": "v1", "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object"}}}]},
      "status": {"storedVersions": ["v0", "v1"],
                 "conditions": [{"type": "Established", "status": "True"}]}})");
  Json old = crd;
  const auto gone = validate_update(*kind, old, crd);
  REQUIRE(gone.size() == 1);
  CHECK(gone[0].field == "status.storedVersions[0]");
  CHECK(gone[0].message.starts_with("Invalid value: \"v0\": missing from spec.versions; v0 was "));
  crd["status"]["storedVersions"] = {"v1"};
  CHECK(validate_update(*kind, old, crd).empty());
  crd["spec"]["names"]["plural"] = "bs";
  const auto fixed = validate_update(*kind, old, crd);
  REQUIRE(fixed.size() == 1);
  CHECK(fixed[0].field == "spec.names.plural");
}

TEST_CASE("A custom resource is warned of finalizers that are nobody's") {
  const auto with = [](const Json& finalizers) {
    return Json{{"metadata", {{"finalizers", finalizers}}}};
  };
  const auto texts = finalizer_warnings(with({"old"}), with({"old", "b.c", "a", "x/y", "orphan"}));
  CHECK(texts ==
        std::vector<std::string>{
            "metadata.finalizers: \"a\": prefer a domain-qualified finalizer name to avoid "
            "accidental conflicts with other finalizer writers",
            "metadata.finalizers: \"b.c\": prefer a domain-qualified finalizer name including a "
            "path (/) to avoid accidental conflicts with other finalizer writers"});
}

TEST_CASE("A custom resource's finalizers are checked by updates too") {
  const Kind kind{.group = "example.com", .version = "v1", .kind = "Gear"};
  const Json old = {{"metadata", {{"name", "a"}}}};
  Json object = old;
  object["metadata"]["finalizers"] = {"1"};
  CHECK(validate_update(kind, old, object).empty());
  object["metadata"]["finalizers"] = {"a b"};
  CHECK(validate_update(kind, old, object).size() == 1);
}

TEST_CASE("Rules keep still on objects of any shape") {
  const KindTable table = recorded_kinds();
  for (const char* text :
       {"{}", "[]", "null", R"({"metadata": 1})", R"({"metadata": [], "spec": 3})",
        R"({"spec": {"containers": [1, null]}, "status": "x"})",
        R"({"spec": {"ports": {}, "template": 2, "selector": []}})"}) {
    for (const KindPtr& kind : table.all()) {
      Json object = Json::parse(text);
      apply_defaults(*kind, object);
      if (object.is_object()) {
        prepare_create(*kind, object);
        prepare_update(*kind, Json::object(), object);
        prepare_status_update(*kind, Json::object(), object);
      }
      CHECK_FALSE(validate_create(*kind, object).empty());
      validate_update(*kind, Json::object(), object);
    }
  }
}

TEST_CASE("Annotations are bounded together") {
  const Kind kind{.group = "example.com", .version = "v1", .kind = "Gear", .namespaced = false};
  Json object = {{"metadata", {{"name", "a"}}}};
  object["metadata"]["annotations"]["k"] = std::string((256U << 10U) - 1, 'x');
  CHECK(validate_meta(kind, object).empty());
  object["metadata"]["annotations"]["k2"] = "";
  const auto causes = validate_meta(kind, object);
  REQUIRE(causes.size() == 1);
  CHECK(causes[0].message == "Too long: may not be more than 262144 bytes");
  CHECK(causes[0].reason == "FieldValueTooLong");
}

}  // namespace
}  // namespace amdahl::local
