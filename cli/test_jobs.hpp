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

}  // namespace amdahl::cli
