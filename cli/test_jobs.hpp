// TrainingJobs, pods and events for tests, written as the API server would send them.
#pragma once

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json_decode.hpp"
#include "cli/job_seen.hpp"

namespace amdahl::cli {

inline const WallTime kTestNow{std::chrono::seconds{1'700'000'000}};

template <class T>
T from_json(const std::string& text) {
  auto value = decode<T>(text);
  INFO(text << (value ? "" : value.error().context));
  REQUIRE(value);
  return *std::move(value);
}

// The spec and the status may be any part of them.
inline TrainingJob test_job(const std::string& status = "{}", const std::string& spec = "{}") {
  Json job = Json::parse(R"({"metadata": {"name": "llama", "namespace": "research", "uid": "u1",
    "generation": 2, "creationTimestamp": "2023-11-14T21:13:20Z"},
    "spec": {"runtime": "Torchrun", "nodes": 2, "template": {"spec": {"containers": [
      {"name": "trainer", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}})");
  job["spec"].update(Json::parse(spec));
  job["status"] = Json::parse(status);
  return from_json<TrainingJob>(job.dump());
}

inline std::string test_condition(const std::string& type, const std::string& status,
                                  const std::string& reason, const std::string& message = "") {
  return Json({{"type", type},
               {"status", status},
               {"reason", reason},
               {"message", message},
               {"lastTransitionTime", "2023-11-14T22:12:20Z"}})
      .dump();
}

inline kube::Pod test_pod(unsigned attempt, unsigned rank, const std::string& status,
                          const std::string& node = "node-a") {
  const std::string name = fmt::format("llama-{}-{}", attempt, rank);
  const Json pod = {{"metadata",
                     {{"name", name},
                      {"namespace", "research"},
                      {"uid", name},
                      {"labels",
                       {{"amdahl.dev/job", "llama"},
                        {"amdahl.dev/attempt", fmt::format("{}", attempt)},
                        {"amdahl.dev/rank", fmt::format("{}", rank)}}}}},
                    {"spec", {{"nodeName", node}}},
                    {"status", Json::parse(status)}};
  return from_json<kube::Pod>(pod.dump());
}

inline const std::string kRunningPod =
    R"({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})";

// In its second attempt, with all that a status may tell.
inline TrainingJob running_job() {
  return test_job(
      R"({"observedGeneration": 2, "attempt": 2, "conditions": [)" +
          test_condition("Admitted", "True", "Bound") + "," +
          test_condition("Running", "True", "AllRanksStarted") +
          R"(], "workers": {"desired": 2, "created": 2, "bound": 2, "running": 2, "ready": 1},
      "progress": {"step": 1200, "totalSteps": 5000, "percent": 24, "stepSeconds": 0.52,
        "etaSeconds": 1980, "metrics": [{"name": "loss", "value": "2.31"},
                                        {"name": "lr", "value": "1e-4"}]},
      "checkpoint": {"lastCommitted": {"step": 1100, "committedAt": "2023-11-14T22:10:20Z"},
                     "stallSeconds": 0.25, "predictedPauseSeconds": 4.5,
                     "verifiedAt": "2023-11-14T22:10:20Z"},
      "budgets": {"failures": 1, "disruptions": 0, "pauses": 2},
      "attempts": [{"number": 1, "outcome": "Failed", "startedAt": "2023-11-14T21:13:20Z",
        "endedAt": "2023-11-14T21:23:20Z", "firstStep": 1, "lastStep": 300, "lostSteps": 100,
        "heldGpuSeconds": 9600, "cause": {"class": "Hang", "rank": 1}},
        {"number": 2, "startedAt": "2023-11-14T21:23:30Z", "resumedFromStep": 200}],
      "gpuSeconds": {"held": 10000, "goodput": 0.75, "phases": [
        {"name": "productive", "seconds": 7500}, {"name": "lost_work", "seconds": 2000},
        {"name": "init", "seconds": 500}, {"name": "idle", "seconds": 0}]}})",
      R"({"checkpoint": {"uri": "gs://bucket/llama"}})");
}

inline JobSeen seen(TrainingJob job, std::vector<kube::Pod> pods = {}) {
  return {.job = std::move(job), .pods = std::move(pods), .now = kTestNow};
}

}  // namespace amdahl::cli
