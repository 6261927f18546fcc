#include "operator/api/training_job_crd.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "base/fields.hpp"
#include "operator/api/bounds.hpp"

namespace amdahl::api {
namespace {

Json root() {
  return training_job_crd()["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
}

// Every schema below `type`, with its path.
void walk(const Json& type, const std::string& path,
          const std::function<void(const std::string&, const Json&)>& visit) {
  visit(path, type);
  if (type.contains("properties"))
    for (const auto& [name, part] : type["properties"].items())
      walk(part, path + "." + name, visit);
  if (type.contains("items")) walk(type["items"], path + "[]", visit);
  if (type.contains("additionalProperties")) walk(type["additionalProperties"], path + "{}", visit);
}

bool has_bounds(const Json& type) {
  const std::string kind = type.value("type", "");
  if (kind == "string")
    return type.contains("maxLength") || type.contains("enum") ||
           type.value("format", "") == "date-time";
  if (kind == "integer" || kind == "number")
    return type.contains("minimum") && type.contains("maximum");
  if (kind == "array") return type.contains("maxItems") && type.contains("x-kubernetes-list-type");
  if (type.contains("additionalProperties")) return type.contains("maxProperties");
  return kind == "object" || kind == "boolean";
}

TEST_CASE("training_job_crd bounds and explains every field") {
  for (const char* part : {"spec", "status"}) {
    walk(root()["properties"][part], part, [](const std::string& path, const Json& type) {
      CAPTURE(path, type.dump());
      CHECK(has_bounds(type));
      if (path.ends_with("[]")) return;  // its list is explained
      REQUIRE(type.contains("description"));
      const std::string doc = type["description"];
      CHECK(doc.ends_with('.'));
      // Sentences; a value of the field may begin one.
      CHECK((std::isupper(static_cast<unsigned char>(doc[0])) != 0 || doc.starts_with("true ")));
    });
  }
}

TEST_CASE("training_job_crd is open in one place only") {
  std::set<std::string> open;
  walk(root(), "", [&](const std::string& path, const Json& type) {
    if (type.contains("x-kubernetes-preserve-unknown-fields")) open.insert(path);
  });
  CHECK(open == std::set<std::string>{".spec.template"});
}

TEST_CASE("training_job_crd has no floats in the spec and no defaults in the status") {
  walk(root()["properties"]["spec"], "spec", [](const std::string& path, const Json& type) {
    CAPTURE(path);
    CHECK(type.value("type", "") != "number");
  });
  walk(root()["properties"]["status"], "status", [](const std::string& path, const Json& type) {
    CAPTURE(path);
    CHECK_FALSE(type.contains("default"));
  });
}

TEST_CASE("training_job_crd carries names, columns and the status subresource") {
  const Json crd = training_job_crd();
  CHECK(crd["metadata"]["name"] == "trainingjobs.amdahl.dev");
  CHECK(crd["spec"]["names"]["shortNames"] == Json({"tj"}));
  CHECK(crd["spec"]["names"]["categories"] == Json({"amdahl"}));
  const Json& version = crd["spec"]["versions"][0];
  CHECK(version["subresources"].contains("status"));
  std::string narrow;
  std::string wide;
  for (const Json& column : version["additionalPrinterColumns"])
    (column.value("priority", 0) == 0 ? narrow : wide) += column["name"].get<std::string>() + " ";
  CHECK(narrow == "Phase Step Progress Last-Step Workers Restarts Queue Age ");
  CHECK(wide == "Checkpoint Goodput Reason ");
}

TEST_CASE("training_job_crd keys its lists") {
  const Json status = root()["properties"]["status"]["properties"];
  const auto key = [](const Json& list) { return list["x-kubernetes-list-map-keys"][0]; };
  CHECK(key(status["conditions"]) == "type");
  CHECK(key(status["attempts"]) == "number");
  CHECK(key(status["progress"]["properties"]["metrics"]) == "name");
  CHECK(key(status["gpuSeconds"]["properties"]["phases"]) == "name");
}

TEST_CASE("training_job_crd is small enough for client-side apply") {
  // kubectl keeps the manifest as JSON in an annotation.
  const std::size_t bytes = training_job_crd().dump().size();
  WARN("trainingjobs.amdahl.dev: " << bytes << " bytes of " << kCrdBytesMax);
  CHECK(bytes < kCrdBytesMax / 4);
}

TEST_CASE("training_job_page shows every field, rule and word") {
  const std::string page = training_job_page();
  for (const char* part :
       {"| `nodes` | integer, 1 to 4096 | required |", "### spec.checkpoint.retention",
        "### status.attempts[].cause", "cancel cannot be taken back", "`spec.checkpoint.uri`",
        "| `CheckpointReady` |", "| `Restarting` |", "| `ContainerOutOfMemory` |",
        "| `interval` | `Auto` or a duration from 1s to 720h | `\"Auto\"` |"}) {
    CAPTURE(part);
    CHECK(page.contains(part));
  }
}

}  // namespace
}  // namespace amdahl::api
