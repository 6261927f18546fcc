#include "tests/bench/job_manifest.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/bench/pod_manifest.hpp"

namespace amdahl::bench {
namespace {
using Json = nlohmann::json;

constexpr std::string_view kStarted = "2026-11-16T08:00:00Z";
constexpr int kMapEntries = 8;

Json condition(std::string_view type, std::string_view reason) {
  return {{"type", type},
          {"status", "True"},
          {"reason", reason},
          {"message", ""},
          {"lastTransitionTime", kStarted},
          {"observedGeneration", 1}};
}

Json job_spec(const std::string& name) {
  const Json trainer = {
      {"name", "trainer"},
      {"image", "registry.example.com/research/trainer:2026.11.3"},
      {"command", {"python", "-m", "train", "--config", "/etc/train/config.yaml"}},
      {"resources", {{"limits", {{"nvidia.com/gpu", 8}, {"memory", "200Gi"}}}}},
      {"volumeMounts", {{{"name", "shm"}, {"mountPath", "/dev/shm"}}}}};
  const Json shm = {{"name", "shm"}, {"emptyDir", {{"medium", "Memory"}}}};
  return {
      {"runtime", "Torchrun"},
      {"nodes", kRanks},
      {"processesPerNode", 8},
      {"family", name},
      {"template",
       {{"spec", {{"containers", Json::array({trainer})}, {"volumes", Json::array({shm})}}}}},
      {"scheduling", {{"gang", "Volcano"}, {"queue", "default"}, {"admission", "Autoscaled"}}},
      {"checkpoint", {{"uri", "gs://checkpoints/" + name}, {"interval", "Auto"}, {"keepLast", 3}}},
      {"restart", {{"maxFailures", 3}, {"maxDisruptions", 50}, {"backoff", "10s"}}},
      {"ttlAfterFinished", "24h"}};
}
}  // namespace

std::string job_manifest(std::uint32_t number) {
  const std::string name = job_key(number).name;
  const Json job = {{"apiVersion", kTrainingJobs.api_version()},
                    {"kind", kTrainingJobs.kind},
                    {"metadata", {{"name", name}, {"labels", {{"team", "research"}}}}},
                    {"spec", job_spec(name)}};
  return job.dump();
}

std::string job_status(std::uint32_t number) {
  const Json attempt = {{"number", 1}, {"startedAt", kStarted}, {"firstStep", 0}};
  const Json status = {
      {"phase", "Running"},
      {"attempt", 1},
      {"conditions",
       Json::array({condition("Admitted", "GangBound"), condition("Running", "AllRanksStarted")})},
      {"workers", {{"desired", kRanks}, {"created", kRanks}, {"running", kRanks}}},
      {"progress", {{"step", number}, {"totalSteps", 20'000}, {"stepSeconds", "1.25"}}},
      {"attempts", Json::array({attempt})}};
  return Json{{"status", status}}.dump();
}

std::string config_map_manifest(std::int64_t number) {
  Json data = Json::object();
  for (int entry = 0; entry < kMapEntries; ++entry)
    data[fmt::format("setting-{}", entry)] = fmt::format("{:096}", number * kMapEntries + entry);
  const Json map = {{"apiVersion", "v1"},
                    {"kind", "ConfigMap"},
                    {"metadata", {{"name", fmt::format("map-{}", number)}}},
                    {"data", std::move(data)}};
  return map.dump();
}

}  // namespace amdahl::bench
