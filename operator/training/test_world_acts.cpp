// What others than the operator do in the world of the scenarios.

#include <algorithm>

#include "operator/api/names.hpp"
#include "operator/training/attempt_view.hpp"
#include "operator/training/test_world.hpp"

namespace amdahl::training {
namespace {

void set_condition(GangPod& pod, kube::PodConditionType type, WallTime now) {
  for (kube::PodCondition& condition : pod.status.conditions)
    if (condition.type == type) {
      condition.status = kube::ConditionStatus::kTrue;
      return;
    }
  pod.status.conditions.push_back(
      {.type = type, .status = kube::ConditionStatus::kTrue, .changed = now});
}

}  // namespace

TrainingJob& World::edit() {
  auto changed = std::make_shared<TrainingJob>(*job);
  ++changed->metadata.generation;
  TrainingJob& result = *changed;
  job = std::move(changed);
  return result;
}

void World::delete_job(bool foreground) {
  if (foreground) {
    edit().metadata.deleted = now;
  } else {
    job.reset();
    group.reset();
    service.reset();
  }
  for (const std::string& name : pod_names()) {
    if (!pods.at(name).metadata.deleted) mark_deleted(pods.at(name), 30);
    collect(name);
  }
}

void World::add_node(kube::Node node, std::int64_t gpus_held) {
  NodesSeen seen = nodes ? *nodes : NodesSeen{};
  seen.gpus_held[node.metadata.name.str()] = gpus_held;
  node.status.conditions = {{.type = "Ready", .status = kube::ConditionStatus::kTrue}};
  seen.nodes.push_back(std::make_shared<kube::Node>(std::move(node)));
  nodes = std::make_shared<NodesSeen>(std::move(seen));
}

void World::flip_suspend(std::int64_t times) {
  for (std::int64_t i = 0; i < times; ++i) {
    TrainingJob& job_now = edit();
    job_now.spec.suspend = !job_now.spec.suspend;
    (void)play(decide());  // one look between two flips
    now += std::chrono::milliseconds{200};
  }
}

void World::recreate_job() {
  World other;
  auto fresh = std::make_shared<TrainingJob>(*other.job);
  fresh->metadata.uid = fresh_uid();
  job = fresh;
}

GangPod* World::pod(std::uint32_t rank) {
  if (!job) return nullptr;
  return pod(api::pod_name(job->metadata.name, static_cast<std::uint32_t>(attempt()), rank));
}

GangPod* World::pod(const std::string& name) {
  const auto found = pods.find(name);
  return found == pods.end() ? nullptr : &found->second;
}

std::vector<std::string> World::pod_names() const {
  std::vector<std::string> names;
  for (const auto& [name, pod] : pods) names.push_back(name);
  return names;
}

void World::bind(GangPod& pod) {
  if (!pod.spec.node.empty()) return;
  pod.spec.node = fmt::format("node-{}", pod.metadata.labels.find(api::label::kRank).value_or("0"));
  set_condition(pod, kube::PodConditionType::kScheduled, now);
}

void World::run(GangPod& pod) {
  bind(pod);
  if (pod.status.phase != kube::PodPhase::kPending) return;
  pod.status.phase = kube::PodPhase::kRunning;
  set_condition(pod, kube::PodConditionType::kReady, now);
  kube::ContainerStatus status{.name = "trainer", .ready = true};
  status.state.running = kube::ContainerRunning{.started = now};
  pod.status.containers = {std::move(status)};
}

void World::end(GangPod& pod, kube::PodPhase phase, std::int32_t exit_code,
                std::string_view reason) {
  run(pod);
  pod.status.phase = phase;
  std::optional<WallTime> started = now;
  if (!pod.status.containers.empty() && pod.status.containers[0].state.running)
    started = pod.status.containers[0].state.running->started;
  std::erase_if(pod.status.conditions, [](const kube::PodCondition& condition) {
    return condition.type == kube::PodConditionType::kReady;
  });
  kube::ContainerStatus status{.name = "trainer"};
  status.state.terminated = kube::ContainerTerminated{
      .exit_code = exit_code, .reason = reason, .started = started, .finished = now};
  pod.status.containers = {std::move(status)};
}

void World::set_clock(WallTime::duration by) {
  now += by;
  set_by_ += by;
  for (std::optional<WallTime>* seen : {&status_written, &leading_since})
    if (*seen) **seen += by;
  for (auto& [uid, report] : reports) {
    report.received += by;
    report.step_changed += by;
  }
}

// It has heard nothing yet.
void World::change_leader() {
  status_written.reset();
  look.reset();
  pause = {};
  leading_since = now;
  reports.clear();
}

void World::remove(const std::string& name) {
  pods.erase(name);
}

void World::mark_deleted(GangPod& pod, std::int64_t grace) {
  pod.metadata.deleted = now + std::chrono::seconds{grace};
  pod.metadata.deletion_grace = grace;
}

void World::kubelets() {
  for (const std::string& name : pod_names()) {
    GangPod& one = pods.at(name);
    if (!one.metadata.deleted) continue;
    const bool ended = one.status.phase == kube::PodPhase::kSucceeded ||
                       one.status.phase == kube::PodPhase::kFailed;
    if (!ended && !one.spec.node.empty()) end(one, kube::PodPhase::kFailed, 143, "Error");
    mark_deleted(one, 0);
    collect(name);
  }
}

void World::reach(api::Phase phase) {
  settle();
  for (auto& [name, one] : pods) {
    if (one.metadata.deleted) continue;
    if (phase == api::Phase::kStarting) bind(one);
    if (phase == api::Phase::kRunning) run(one);
  }
  settle();
}

api::Report& World::report(std::uint32_t rank) {
  GangPod* const from = pod(rank);
  RankReport& entry = reports[from == nullptr ? "nobody" : from->metadata.uid.str()];
  entry.received = now;
  if (entry.report.pod_uid.empty()) {
    entry.step_changed = now;
    entry.report.job = "research/train";
    entry.report.pod_uid = from == nullptr ? "nobody" : from->metadata.uid.str();
    entry.report.attempt = attempt();
    entry.report.rank = static_cast<std::int32_t>(rank);
  }
  return entry.report;
}

}  // namespace amdahl::training
