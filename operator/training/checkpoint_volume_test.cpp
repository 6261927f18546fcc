#include "operator/training/checkpoint_volume.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "operator/training/pod_template.hpp"
#include "operator/training/test_world.hpp"

namespace amdahl::training {
namespace {

TrainingJob a_job(std::string arena_bytes, std::string uri = "gs://b/p") {
  World world;
  TrainingJob job = *world.job;
  job.metadata.uid = "u-1";
  job.spec.checkpoint.uri = std::move(uri);
  job.spec.checkpoint.arena_bytes = std::move(arena_bytes);
  return job;
}

std::string variable(const Json& pod, std::string_view name) {
  for (const Json& entry : pod["spec"]["containers"][0]["env"])
    if (entry["name"] == name) return entry.value("value", "");
  return "";
}

TEST_CASE("A job that says how much gets memory for its snapshots") {
  const Json pod = pod_of(a_job("1.5Gi"), {.attempt = 2, .nodes = 2}, {});
  const Json volume = pod["spec"]["volumes"][0];
  CHECK(volume["name"] == "amdahl-arena");
  CHECK(volume["emptyDir"] == Json{{"medium", "Memory"}, {"sizeLimit", "1610612736"}});
  const Json mount = pod["spec"]["containers"][0]["volumeMounts"][0];
  CHECK(mount["name"] == "amdahl-arena");
  CHECK(mount["mountPath"] == "/amdahl-arena");
  CHECK(variable(pod, "AMDAHL_ARENA_DIR") == "/amdahl-arena");
  CHECK(variable(pod, "AMDAHL_ARENA_BYTES") == "1610612736");
}

TEST_CASE("A job that does not, or keeps no checkpoints, gets none") {
  for (const TrainingJob& job : {a_job("0"), a_job("1Gi", ""), a_job("not a quantity")}) {
    const Json pod = pod_of(job, {.attempt = 2, .nodes = 2}, {});
    CHECK_FALSE(pod["spec"].contains("volumes"));
    CHECK(variable(pod, "AMDAHL_ARENA_DIR").empty());
    CHECK(variable(pod, "AMDAHL_ATTEMPT_ID").empty() == job.spec.checkpoint.uri.empty());
  }
}

TEST_CASE("A pod is told which checkpoints stay and where its job starts from", "[B1][D4]") {
  TrainingJob job = a_job("0");
  const auto told = [&](std::string_view name) {
    return variable(pod_of(job, {.attempt = 1, .nodes = 2}, {}), name);
  };
  CHECK(told("AMDAHL_CHECKPOINT_RETENTION").empty());
  CHECK(told("AMDAHL_CHECKPOINT_INIT_FROM").empty());
  job.spec.checkpoint.retention = {.keep_last = 5, .keep_every_steps = 100, .bytes_max = "1.5Gi"};
  job.spec.checkpoint.init_from = "gs://b/base@7";
  CHECK(told("AMDAHL_CHECKPOINT_RETENTION") ==
        R"({"keepLast":5,"keepEverySteps":100,"keepBytesMax":1610612736})");
  CHECK(told("AMDAHL_CHECKPOINT_INIT_FROM") == "gs://b/base@7");
}

TEST_CASE("Memory for snapshots counts against the trainer's limit, and both are named") {
  const auto fault = [](const char* arena, Json limit) {
    TrainingJob job = a_job(arena);
    job.spec.pod_template["spec"]["containers"][0]["resources"]["limits"]["memory"] =
        std::move(limit);
    return arena_fault(job.spec);
  };
  CHECK_FALSE(fault("1Gi", "1088Mi"));
  CHECK_FALSE(fault("1Gi", 1140850688));
  CHECK_FALSE(fault("1Gi", nullptr));  // no limit
  CHECK_FALSE(fault("0", "1Mi"));
  for (const Json& limit : {Json("1087Mi"), Json("1Gi"), Json(1), Json("1m")}) {
    const auto words = fault("1Gi", limit);
    REQUIRE(words);
    CHECK(words->starts_with("spec.checkpoint.arenaBytes: 1073741824"));
    CHECK(words->ends_with("1140850688"));
  }
}

TEST_CASE("The id of an attempt is the same for its ranks and nobody else's") {
  const TrainingJob job = a_job("0");
  const auto id = [&](std::uint32_t attempt, std::uint32_t rank) {
    return variable(pod_of(job, {.attempt = attempt, .index = rank, .nodes = 4}, {}),
                    "AMDAHL_ATTEMPT_ID");
  };
  CHECK(id(2, 0) == id(2, 3));
  CHECK(id(2, 0) == attempt_id("u-1", 2));
  CHECK(id(2, 0).size() == 32);
  std::set<std::string> ids;
  for (const char* uid : {"u-1", "u-2", "u-11"})
    for (std::uint32_t attempt = 1; attempt <= 20; ++attempt) ids.insert(attempt_id(uid, attempt));
  CHECK(ids.size() == 60);
  // printf 'amdahl-attempt-1\nu-1\n2\n' | sha256sum
  CHECK(attempt_id("u-1", 2) == "d6ba1a5318848404c2af5298c8061b3a");
}

TEST_CASE("How often to save is told when the pod is made") {
  TrainingJob job = a_job("0");
  const auto told = [&] {
    return variable(pod_of(job, {.nodes = 2}, {}), "AMDAHL_CHECKPOINT_INTERVAL_SECONDS");
  };
  CHECK(told() == "416");
  job.status.checkpoint = api::CheckpointStatus{.interval_seconds = 90};
  CHECK(told() == "90");
}

}  // namespace
}  // namespace amdahl::training
