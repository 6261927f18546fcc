// Every field of a TrainingJob's status: written through the status subresource, and refused one
// step outside of its bounds. The values are made from the schema, so a new field is covered.
#include <functional>

#include "base/json_decode.hpp"
#include "base/json_encode.hpp"
#include "base/validate.hpp"
#include "operator/api/fit_status.hpp"
#include "operator/api/training_job_crd.hpp"
#include "tests/api/job_server.hpp"

namespace amdahl::tests {
namespace {

Json status_schema() {
  return api::training_job_crd()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
                                ["status"];
}

// Something that the schema takes, with every field in it.
Json sample(const Json& type) {
  const std::string kind = type["type"];
  if (kind == "object") {
    Json object = Json::object();
    for (const auto& [name, part] : type["properties"].items()) object[name] = sample(part);
    return object;
  }
  if (kind == "array") return Json::array({sample(type["items"])});
  if (kind == "integer") return type["maximum"];
  if (kind == "number") return 0.25;
  if (type.contains("enum")) return type["enum"].back();
  if (type.value("format", "") == "date-time") return "2026-11-17T01:02:03Z";
  return "Xx";
}

// Values one step outside.
Json outside(const Json& type) {
  const std::string kind = type["type"];
  if (kind == "object") return {5};
  if (kind == "integer" || kind == "number")
    return {type["minimum"].get<std::int64_t>() - 1, type["maximum"].get<std::int64_t>() + 1, "1"};
  if (kind == "array") {
    Json many = Json::array();
    for (int i = 0; i <= type["maxItems"].get<int>(); ++i) many.push_back(sample(type["items"]));
    return {many, 5};
  }
  if (type.contains("enum")) return {"Nope", 5};
  if (type.value("format", "") == "date-time") return {"yesterday", 5};
  return {std::string(type["maxLength"].get<std::size_t>() + 1, 'X'), 5};
}

using Visit = std::function<void(const std::string& pointer, const std::string& path, const Json&)>;
void walk(const Json& type, const std::string& pointer, const std::string& path,
          const Visit& visit) {
  visit(pointer, path, type);
  if (type["type"] == "array") walk(type["items"], pointer + "/0", path + "[0]", visit);
  if (type["type"] == "object")
    for (const auto& [name, part] : type["properties"].items())
      walk(part, pointer + "/" + name, path + "." + name, visit);
}

Json set(const std::string& pointer, const Json& value) {
  return Json::array({{{"op", "add"}, {"path", pointer}, {"value", value}}});
}

TEST_CASE("TrainingJob: every field of the status is kept, and bounded") {
  JobServer server;
  server.create(rows_file()["job"]);
  const Json full = sample(status_schema());
  const auto written = server.patch("llama-ft", set("/status", full), "/status");
  INFO(written.text);
  REQUIRE(written.status == 200);
  CHECK(written.body["status"] == full);
  CHECK(written.body["metadata"]["generation"] == 1);

  const auto read = decode<api::TrainingJobStatus>(full.dump());
  REQUIRE(read);
  CHECK(validate(*read));
  std::size_t places = 0;
  walk(status_schema(), "/status", "status",
       [&](const std::string& pointer, const std::string& path, const Json& type) {
         if (path == "status") return;
         ++places;
         for (const Json& value : outside(type)) {
           CAPTURE(path, value.dump());
           const auto got = server.patch("llama-ft", set(pointer, value), "/status");
           CHECK(got.status == 422);
           CHECK(JobServer::message(got).contains(path));
         }
       });
  CHECK(places > 60);
  CHECK(server.get("llama-ft")["status"] == full);
}

TEST_CASE("TrainingJob: the spec cannot be written through the status, nor the other way") {
  JobServer server;
  server.create(rows_file()["job"]);
  const auto status = server.patch("llama-ft", set("/spec/cancel", true), "/status");
  CHECK(status.status == 200);
  CHECK(status.body["spec"]["cancel"] == false);
  const auto spec = server.patch("llama-ft", set("/status", {{"phase", "Running"}}));
  CHECK(spec.status == 200);
  CHECK_FALSE(spec.body.contains("status"));
}

TEST_CASE("TrainingJob: a status that was fitted is taken, whatever was in it") {
  JobServer server;
  server.create(rows_file()["job"]);
  const std::string noise(100'000, '\x01');
  api::TrainingJobStatus status{.phase = api::Phase::kFailed, .attempt = 30};
  for (std::int32_t number = 1; number <= 30; ++number) {
    status.attempts.push_back(
        {.number = number,
         .outcome = api::AttemptOutcome::kFailed,
         .cause = api::Cause{.cause_class = api::CauseClass::kUserException, .message = noise}});
  }
  api::fit_status(status);
  const auto got = server.patch("llama-ft", set("/status", encode(status)), "/status");
  INFO(got.text);
  CHECK(got.status == 200);
}

TEST_CASE("TrainingJob: columns are filled from spec and status") {
  JobServer server;
  server.create(rows_file()["job"]);
  const Json status = {
      {"phase", "Running"},
      {"reason", "AllRanksStarted"},
      {"restarts", 0},
      {"progress", {{"step", 40}, {"percent", 12}}},
      {"workers", {{"desired", 2}, {"created", 2}, {"bound", 2}, {"running", 2}, {"ready", 1}}},
      {"checkpoint", {{"lastCommitted", {{"step", 30}}}}},
      {"gpuSeconds", {{"held", 100}, {"goodput", 0.5}}}};
  REQUIRE(server.patch("llama-ft", set("/status", status), "/status").status == 200);
  const auto table =
      server.cluster.get(JobServer::kJobs, "application/json;as=Table;v=v1;g=meta.k8s.io");
  Json cells = table.body["rows"][0]["cells"];
  cells.erase(8);  // the age
  CHECK(cells.dump() ==
        R"(["llama-ft","Running",40,12,null,1,0,"research",30,0.5,"AllRanksStarted"])");
}

}  // namespace
}  // namespace amdahl::tests
