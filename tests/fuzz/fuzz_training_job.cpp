// Any JSON as a TrainingJob, from the bytes of a watch through the sink of jobs to the pods and the
// next status: refused or made into a gang, never an exception. A job whose name can be read is
// never lost. What is decided is a status that the API server takes, the pod of a spec without a
// fault has one trainer, and neither changes when asked twice.
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "base/json_decode.hpp"
#include "base/json_member.hpp"
#include "base/json_text.hpp"
#include "base/validate.hpp"
#include "operator/training/decide.hpp"
#include "operator/training/job_sink.hpp"
#include "operator/training/pod_resources.hpp"
#include "operator/training/pod_template.hpp"
#include "operator/training/template_check.hpp"

namespace {

using namespace amdahl::training;  // NOLINT(google-build-using-namespace)
using amdahl::Json;

constexpr amdahl::WallTime kNow{std::chrono::seconds{1'760'000'000}};
constexpr std::int32_t kNodesHere = 3;  // more would only take longer

// As a watch brings it. Null: refused.
JobPtr through_sink(std::string text) {
  amdahl::controller::Store<TrainingJob> jobs;
  JobSink sink(jobs, [](const amdahl::Error&) {});
  const std::size_t size = text.size();
  text.append(amdahl::kJsonPadding, ' ');
  if (!sink.decode({.bytes = std::string_view(text).substr(0, size)})) return nullptr;
  sink.apply(amdahl::kube::EventKind::kAdded);
  JobPtr found;
  jobs.for_each([&](const JobPtr& job) { found = job; });
  return found;
}

// The bytes are a job with its name, or one without, or else a template.
JobPtr stored_job(std::string_view text) {
  if (JobPtr job = through_sink(std::string(text))) return job;
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) return nullptr;
  const char* const identity = R"({"name":"train","namespace":"a","uid":"u","resourceVersion":"1")";
  const bool deep = amdahl::json_text::nested_deeper_than(text, amdahl::kRawJsonDepthMax);
  if (!deep && amdahl::member_of(value, "spec").is_object() &&
      amdahl::member_of(value, "metadata").is_object()) {
    value["metadata"].update(Json::parse(std::string(identity) + "}"));
    JobPtr job = through_sink(value.dump(-1, ' ', false, Json::error_handler_t::replace));
    AMDAHL_CHECK(job != nullptr);
    return job;
  }
  return through_sink(
      fmt::format(R"({{"metadata":{}}},"spec":{{"runtime":"Python","nodes":2,"template":{}}}}})",
                  identity, text));
}

std::shared_ptr<TrainingJob> job_in(std::string_view text) {
  const JobPtr stored = stored_job(text);
  if (!stored) return nullptr;
  auto job = std::make_shared<TrainingJob>(*stored);
  job->metadata.name = "train";
  job->metadata.ns = "research";
  job->metadata.uid = "u1";
  if (!amdahl::validate(job->status)) job->status = {};  // the CRD keeps such a status out
  job->spec.nodes = std::min(job->spec.nodes, kNodesHere);
  return job;
}

GangPodPtr pod_in_cache(const TrainingJob& job, std::uint32_t rank, amdahl::kube::PodPhase phase) {
  auto pod = std::make_shared<GangPod>();
  const Json made = pod_of(job, {.attempt = 1, .index = rank}, {});
  std::string text = made.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (auto read = amdahl::decode<GangPod>(text)) *pod = *std::move(read);
  pod->metadata.uid = "p" + std::to_string(rank);
  pod->status.phase = phase;
  return pod;
}

RankReport report_of(std::uint32_t rank) {
  amdahl::api::Report report{.job = "research/train",
                             .job_uid = "u1",
                             .pod_uid = "p" + std::to_string(rank),
                             .attempt = 1,
                             .rank = static_cast<std::int32_t>(rank),
                             .sequence = 1,
                             .step = 5};
  report.metrics = {{.name = "loss", .value = "1"}, {.name = "loss", .value = "2"}};
  return {.report = std::move(report), .received = kNow, .step_changed = kNow};
}

NodesPtr one_node() {
  auto node = std::make_shared<amdahl::kube::Node>();
  node->metadata.name = "n";
  node->spec.taints = {{.key = "gpu", .value = "a", .effect = "NoSchedule"}};
  node->status.conditions = {{.type = "Ready", .status = amdahl::kube::ConditionStatus::kTrue}};
  for (const char* name : {"cpu", "memory", "nvidia.com/gpu"})
    node->status.allocatable[name] = amdahl::kube::Quantity::from_integer(8);
  auto seen = std::make_shared<NodesSeen>();
  seen->nodes.push_back(std::move(node));
  seen->gpus_held["n"] = 3;
  return seen;
}

void check_plan(const Observed& seen, const PodOptions& options) {
  const Plan plan = decide(seen, kNow, options);
  if (!plan.status) return;
  AMDAHL_CHECK(amdahl::validate(*plan.status).has_value());
  AMDAHL_CHECK(decide(seen, kNow, options).status == plan.status);
}

void check_pod(const TrainingJob& job, const PodOptions& options) {
  const bool sound = !job_fault(job, options);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const Json pod = pod_of(job, {.attempt = 1, .index = rank, .nodes = job.spec.nodes}, options);
    AMDAHL_CHECK(amdahl::member_of(pod["spec"], "containers").is_array());
    const Json* const trainer = trainer_of(pod);
    AMDAHL_CHECK(!sound || trainer != nullptr);
    if (sound && !options.launch_path.empty())
      AMDAHL_CHECK(amdahl::member_of(*trainer, "command")[0] == options.launch_path);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto job = job_in({reinterpret_cast<const char*>(data), size});
  if (!job) return 0;
  const PodOptions plain;
  const PodOptions embedded{.launch_path = "/amdahl-launch", .report_url = "http://127.0.0.1:1"};
  const PodOptions cluster{
      .launch_image = "launch:1", .report_url = "https://r", .report_ca = "ca"};
  for (const PodOptions& options : {plain, embedded, cluster}) {
    check_pod(*job, options);
    Observed seen{.job = job, .nodes = one_node()};
    check_plan(seen, options);
    using enum amdahl::kube::PodPhase;
    for (const auto phase : {kPending, kRunning, kFailed}) {
      seen.pods.clear();
      for (std::uint32_t rank = 0; rank < 2; ++rank)
        seen.pods.push_back(pod_seen(pod_in_cache(*job, rank, phase)));
      for (PodSeen& pod : seen.pods) pod.owner_uid = "u1";
      seen.reports = {report_of(0), report_of(1)};
      check_plan(seen, options);
    }
  }
  return 0;
}
