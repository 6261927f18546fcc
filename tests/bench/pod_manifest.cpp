#include "tests/bench/pod_manifest.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace amdahl::bench {
namespace {
using Json = nlohmann::json;

constexpr std::uint32_t kNodes = 500;
constexpr std::string_view kTrainerImage = "registry.example.com/research/trainer:2026.11.3";
constexpr std::string_view kMetricsImage = "registry.example.com/platform/dcgm-exporter:4.2.0";
constexpr std::string_view kStarted = "2026-11-16T08:00:00Z";

std::string job_name(std::uint32_t index) {
  return job_key(index / kRanks).name;
}

Json metadata(std::uint32_t index, std::string_view owner_uid) {
  const std::string job = job_name(index);
  Json meta = {{"name", pod_key(index).name},
               {"labels",
                {{"app.kubernetes.io/managed-by", "amdahl"},
                 {"amdahl.dev/job", job},
                 {"amdahl.dev/attempt", "1"},
                 {"amdahl.dev/rank", std::to_string(index % kRanks)}}},
               {"annotations", {{"scheduling.k8s.io/group-name", job + "-1"}}}};
  if (!owner_uid.empty())
    meta["ownerReferences"] = {{{"apiVersion", "amdahl.dev/v1alpha1"},
                                {"kind", "TrainingJob"},
                                {"name", job},
                                {"uid", owner_uid},
                                {"controller", true}}};
  return meta;
}

Json variable(std::string_view name, std::string value) {
  return {{"name", name}, {"value", std::move(value)}};
}

Json trainer(std::uint32_t index) {
  const std::string job = job_name(index);
  return {{"name", "trainer"},
          {"image", kTrainerImage},
          {"args", {"python", "-m", "train"}},
          {"env",
           {variable("PET_NODE_RANK", std::to_string(index % kRanks)),
            variable("PET_MASTER_ADDR", fmt::format("{0}-1-0.{0}", job))}},
          {"resources", {{"limits", {{"nvidia.com/gpu", "8"}}}}},
          {"volumeMounts", {{{"name", "shm"}, {"mountPath", "/dev/shm"}}}}};
}

Json container_status(std::string_view name, std::string_view image, std::uint32_t index) {
  return {{"name", name},
          {"image", image},
          {"imageID", fmt::format("sha256:{:064x}", index)},
          {"ready", true},
          {"started", true},
          {"restartCount", 0},
          {"state", {{"running", {{"startedAt", kStarted}}}}}};
}
}  // namespace

std::string namespace_name(std::uint32_t number) {
  return fmt::format("bench-{}", number);
}

kube::ObjectKey job_key(std::uint32_t number) {
  return {.ns = namespace_name(number % kNamespaces), .name = fmt::format("job-{:04}", number)};
}

kube::ObjectKey pod_key(std::uint32_t index) {
  const kube::ObjectKey job = job_key(index / kRanks);
  return {.ns = job.ns, .name = fmt::format("{}-1-{}", job.name, index % kRanks)};
}

std::string pod_manifest(std::uint32_t index) {
  return pod_manifest(index, fmt::format("6f1c7e4a-0000-4000-8000-{:012x}", index / kRanks));
}

std::string pod_manifest(std::uint32_t index, std::string_view owner_uid) {
  const Json pod = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", metadata(index, owner_uid)},
      {"spec",
       {{"restartPolicy", "Never"},
        {"nodeName", fmt::format("node-{:03}", index / kRanks % kNodes)},
        {"enableServiceLinks", false},
        {"tolerations",
         {{{"key", "nvidia.com/gpu"}, {"operator", "Exists"}, {"effect", "NoSchedule"}}}},
        {"volumes", {{{"name", "shm"}, {"emptyDir", {{"medium", "Memory"}}}}}},
        {"containers", {trainer(index), {{"name", "metrics"}, {"image", kMetricsImage}}}}}}};
  return pod.dump();
}

std::string pod_status(std::uint32_t index) {
  const Json ready = {{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", kStarted}};
  const Json status = {
      {"status",
       {{"phase", "Running"},
        {"podIP", fmt::format("10.{}.{}.{}", index >> 16 & 255, index >> 8 & 255, index & 255)},
        {"startTime", kStarted},
        {"conditions", Json::array({ready})},
        {"containerStatuses",
         {container_status("trainer", kTrainerImage, index),
          container_status("metrics", kMetricsImage, index)}}}}};
  return status.dump();
}

std::string pod_label_patch(std::int64_t seq) {
  const Json labels = {{"bench.amdahl.dev/seq", std::to_string(seq)}};
  return Json{{"metadata", {{"labels", labels}}}}.dump();
}

}  // namespace amdahl::bench
