#include "operator/training/diagnose/evidence.hpp"

#include <catch2/catch.hpp>

#include "base/json_decode.hpp"
#include "operator/training/diagnose/diagnose.hpp"

namespace amdahl::training {
namespace {

constexpr std::string_view kPod = R"({
  "metadata": {"name": "llama-2-3", "deletionTimestamp": "2026-01-01T00:02:00Z",
    "labels": {"amdahl.dev/job": "llama", "amdahl.dev/attempt": "2", "amdahl.dev/rank": "3"}},
  "spec": {"nodeName": "gpu-7"},
  "status": {"phase": "Failed", "reason": "Evicted", "message": "low on memory",
    "conditions": [
      {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:10Z"},
      {"type": "Ready", "status": "False", "reason": "Evict"},
      {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet",
       "message": "why", "lastTransitionTime": "2026-01-01T00:01:00Z"}],
    "initContainerStatuses": [{"name": "launch", "state": {"terminated": {"exitCode": 0}}}],
    "containerStatuses": [
      {"name": "proxy", "state": {"running": {"startedAt": "2026-01-01T00:00:20Z"}}},
      {"name": "trainer", "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "m"}},
       "lastState": {"terminated": {"exitCode": 137, "signal": 9, "reason": "OOMKilled",
         "message": "bye", "finishedAt": "2026-01-01T00:01:05Z"}}}]}})";

TEST_CASE("evidence_of projects a pod, the trainer first") {
  const auto pod = decode<kube::Pod>(kPod);
  REQUIRE(pod);
  const PodEvidence evidence = evidence_of(*pod, nullptr);
  CHECK(evidence.rank == 3);
  CHECK(evidence.pod == "llama-2-3");
  CHECK(evidence.node == "gpu-7");
  CHECK(evidence.bound);
  CHECK(evidence.bound_at == *parse_time("2026-01-01T00:00:10Z"));
  CHECK(evidence.deleting);
  CHECK(evidence.reason == "Evicted");
  CHECK(evidence.unready_reason == "Evict");
  CHECK(evidence.disruption_reason == "TerminationByKubelet");
  CHECK(evidence.disrupted_at == *parse_time("2026-01-01T00:01:00Z"));
  REQUIRE(evidence.containers.size() == 3);
  const ContainerEvidence& trainer = evidence.containers[0];
  CHECK(trainer.name == "trainer");
  CHECK(trainer.waiting_reason == "CrashLoopBackOff");
  REQUIRE(trainer.ended_before);
  CHECK(trainer.ended_before->exit_code == 137);
  CHECK(trainer.ended_before->signal == 9);
  CHECK(trainer.ended_before->message == "bye");
  CHECK(evidence.containers[1].running);
  CHECK(evidence.containers[2].init);
}

TEST_CASE("evidence_of keeps a condition PodScheduled that is false as what the scheduler says") {
  const auto pod = decode<kube::Pod>(
      R"({"metadata": {"name": "a"}, "status": {"phase": "Pending", "conditions": [
          {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3"}]}})");
  REQUIRE(pod);
  const PodEvidence evidence = evidence_of(*pod, nullptr);
  CHECK_FALSE(evidence.bound);
  CHECK_FALSE(evidence.bound_at);
  CHECK(evidence.scheduled_reason == "Unschedulable");
  CHECK(evidence.scheduled_message == "0/3");
}

TEST_CASE("evidence_of takes from a node what is wrong with it") {
  const auto node = decode<kube::Node>(R"({
    "metadata": {"name": "gpu-7", "labels": {"cloud.google.com/gke-spot": "true"}},
    "status": {"conditions": [
      {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"},
      {"type": "MemoryPressure", "status": "False"},
      {"type": "DiskPressure", "status": "Unknown"},
      {"type": "XidCriticalError", "status": "True", "reason": "{\"79\":1}"}]}})");
  const auto pod = decode<kube::Pod>(R"({"metadata": {"name": "a"}})");
  REQUIRE(node);
  REQUIRE(pod);
  const PodEvidence evidence = evidence_of(*pod, &*node);
  CHECK(evidence.node_spot);
  REQUIRE(evidence.node_troubles.size() == 2);
  CHECK(evidence.node_troubles[0].type == "Ready");
  CHECK(evidence.node_troubles[1].reason == R"({"79":1})");
}

TEST_CASE("evidence_of cuts what a container wrote") {
  kube::Pod pod;
  pod.status.message = std::string(std::size_t{1} << 20U, 'x');
  CHECK(evidence_of(pod, nullptr).message.size() == kEvidenceTextMax);
}

}  // namespace
}  // namespace amdahl::training
