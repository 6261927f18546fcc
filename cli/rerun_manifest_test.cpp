#include "cli/rerun_manifest.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace amdahl::cli {
namespace {

// That many attempts, the last of which may have committed.
TrainingJob job_with(const std::string& uri, bool committed, int attempts = 1) {
  TrainingJob job;
  job.metadata.name = "llama";
  job.metadata.ns = "research";
  job.spec.checkpoint.uri = uri;
  job.status.attempt = attempts;
  job.status.checkpoint.emplace();
  if (committed) job.status.checkpoint->last_committed.emplace();
  return job;
}

Json stored(const std::string& checkpoint) {
  return Json::parse(R"({"metadata":{"name":"llama","namespace":"research","uid":"u",
      "labels":{"team":"a"},"annotations":{"amdahl.dev/requested-by":"ann","note":"b"},
      "managedFields":[],"finalizers":["f"]},
    "spec":{"nodes":2,"cancel":true,"suspend":true,"checkpoint":)" +
                     checkpoint + R"(},"status":{"phase":"Failed"}})");
}

TEST_CASE("A rerun has the spec, labels and annotations of the run before, and no traces", "[D5]") {
  const auto made = rerun_manifest(job_with("", false), stored("{}"), {.suffix = "x"});
  REQUIRE(made);
  CHECK(made->object == Json::parse(R"({"apiVersion":"amdahl.dev/v1alpha1","kind":"TrainingJob",
      "metadata":{"name":"llama","namespace":"research","labels":{"team":"a"},
                  "annotations":{"note":"b"}},
      "spec":{"nodes":2,"checkpoint":{}}})"));
  CHECK(made->checkpoints.empty());
  const auto named =
      rerun_manifest(job_with("", false), stored("{}"), {.name = "llama-2", .suffix = "x"});
  REQUIRE(named);
  CHECK(named->object["metadata"]["name"] == "llama-2");
  CHECK_FALSE(rerun_manifest(job_with("", false), Json::parse("{}"), {}));
}

TEST_CASE("A rerun saves beside the run before, never into its checkpoints", "[D5]") {
  struct Row {
    const char* uri;
    bool committed;
    const char* after;
  };
  const Row rows[] = {
      {"gs://b/llama", false, "gs://b/llama/rerun-x"},  // load() claims it before the first save
      {"gs://b/llama", true, "gs://b/llama/rerun-x"},
      {"file:///checkpoints/", true, "file:///checkpoints/rerun-x"},
      {"file:///", true, "file:///rerun-x"},
      {"gs://b/llama/rerun-old", true, "gs://b/llama/rerun-x"},
      {"gs://b/rerun-a/llama", true, "gs://b/rerun-a/llama/rerun-x"},
  };
  for (const Row& row : rows) {
    INFO(row.uri);
    const Json spec = {{"uri", row.uri}};
    const auto made =
        rerun_manifest(job_with(row.uri, row.committed), stored(spec.dump()), {.suffix = "x"});
    REQUIRE(made);
    CHECK(made->object["spec"]["checkpoint"]["uri"] == row.after);
    CHECK_FALSE(made->object["spec"]["checkpoint"].contains("initFrom"));
  }
}

TEST_CASE("A rerun keeps the URI of a job that never started, unless that job stays", "[D5]") {
  const Json spec = {{"uri", "gs://b/llama"}};
  const auto uri_after = [&](const char* name) {
    const auto made = rerun_manifest(job_with("gs://b/llama", false, 0), stored(spec.dump()),
                                     {.name = name, .suffix = "x"});
    REQUIRE(made);
    return made->object["spec"]["checkpoint"]["uri"].get<std::string>();
  };
  CHECK(uri_after("") == "gs://b/llama");
  CHECK(uri_after("llama-2") == "gs://b/llama/rerun-x");
}

TEST_CASE("A rerun by a file with the first URI leaves the folders of earlier runs alone", "[D5]") {
  for (const char* uri : {"gs://b/llama", "gs://b/llama/", "gs://b/llama/rerun-old"}) {
    INFO(uri);
    const Json spec = {{"uri", uri}};
    const auto made = rerun_manifest(job_with("gs://b/llama/rerun-old", false), stored(spec.dump()),
                                     {.suffix = "x"});
    REQUIRE(made);
    CHECK(made->object["spec"]["checkpoint"]["uri"] == "gs://b/llama/rerun-x");
    CHECK(made->checkpoints_before == "gs://b/llama/rerun-old");
  }
  const Json other = {{"uri", "gs://b/other"}};
  const auto made =
      rerun_manifest(job_with("gs://b/llama", false), stored(other.dump()), {.suffix = "x"});
  REQUIRE(made);
  CHECK(made->object["spec"]["checkpoint"]["uri"] == "gs://b/other");
}

TEST_CASE("A rerun refuses a spec.checkpoint that is no object", "[D5]") {
  for (const char* checkpoint : {"5", "[]", "\"uri\"", "true"})
    for (const bool from : {false, true}) {
      INFO(checkpoint);
      const auto made = rerun_manifest(job_with("gs://b/llama", true), stored(checkpoint),
                                       {.from_checkpoint = from, .suffix = "x"});
      REQUIRE_FALSE(made);
      CHECK(made.error().context.contains("spec.checkpoint must be an object"));
    }
  CHECK(rerun_manifest(job_with("gs://b/llama", true), stored("null"),
                       {.from_checkpoint = true, .suffix = "x"}));
}

TEST_CASE("A rerun starts from a checkpoint only when it is asked to", "[D5]") {
  const Json spec = {{"uri", "gs://b/llama"}};
  const auto made = rerun_manifest(job_with("gs://b/llama", true), stored(spec.dump()),
                                   {.from_checkpoint = true, .suffix = "x"});
  REQUIRE(made);
  CHECK(made->object["spec"]["checkpoint"]["initFrom"] == "gs://b/llama");
  CHECK_FALSE(rerun_manifest(job_with("gs://b/llama", false), stored(spec.dump()),
                             {.from_checkpoint = true}));
  // Where the user's own spec starts from stays; what an earlier rerun set goes.
  const auto init = [](const char* uri, const char* from) {
    const Json given = {{"uri", uri}, {"initFrom", from}};
    const auto again = rerun_manifest(job_with(uri, true), stored(given.dump()), {.suffix = "x"});
    REQUIRE(again);
    return again->object["spec"]["checkpoint"].value("initFrom", "");
  };
  CHECK(init("gs://b/llama", "gs://b/base") == "gs://b/base");
  CHECK(init("gs://b/llama/rerun-1", "gs://b/llama") == "");
  CHECK(init("file:///c/rerun-1", "file:///c/") == "");
}

TEST_CASE("A rerun from a checkpoint goes back to the one that the run before started from",
          "[D5]") {
  TrainingJob before = job_with("gs://b/llama/rerun-1", false);
  before.spec.checkpoint.init_from = "gs://b/llama";
  const Json spec = {{"uri", "gs://b/llama/rerun-1"}, {"initFrom", "gs://b/llama"}};
  const auto made =
      rerun_manifest(before, stored(spec.dump()), {.from_checkpoint = true, .suffix = "x"});
  REQUIRE(made);
  CHECK(made->object["spec"]["checkpoint"]["uri"] == "gs://b/llama/rerun-x");
  CHECK(made->object["spec"]["checkpoint"]["initFrom"] == "gs://b/llama");
}

}  // namespace
}  // namespace amdahl::cli
