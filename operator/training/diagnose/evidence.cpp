#include "operator/training/diagnose/evidence.hpp"

#include <algorithm>

#include "base/json_decode.hpp"
#include "base/validate.hpp"
#include "operator/api/bounds.hpp"
#include "operator/api/names.hpp"
#include "operator/api/report.hpp"
#include "operator/api/report_lists.hpp"

namespace amdahl::training {
namespace {

std::string copy_of(std::string_view text) {
  return std::string(bounded_head(text));
}

std::optional<ContainerEnd> end_of(const kube::ContainerState& state) {
  if (!state.terminated) return std::nullopt;
  const kube::ContainerTerminated& end = *state.terminated;
  return ContainerEnd{.exit_code = end.exit_code,
                      .signal = end.signal,
                      .reason = copy_of(end.reason),
                      .message = copy_of(end.message),
                      .started = end.started,
                      .finished = end.finished};
}

ContainerEvidence container_of(const kube::ContainerStatus& status, bool init) {
  ContainerEvidence container{.name = status.name.str(),
                              .init = init,
                              .running = static_cast<bool>(status.state.running),
                              .ended = end_of(status.state),
                              .ended_before = end_of(status.last_state)};
  if (status.state.waiting) {
    container.waiting_reason = copy_of(status.state.waiting->reason);
    container.waiting_message = copy_of(status.state.waiting->message);
  }
  return container;
}

// The workload is the container named "trainer", or the only one.
void add_containers(PodEvidence& evidence, const kube::PodStatus& status) {
  for (const kube::ContainerStatus& container : status.containers)
    if (evidence.containers.size() < kContainersMax)
      evidence.containers.push_back(container_of(container, false));
  const auto trainer =
      std::ranges::find(evidence.containers, api::kTrainerContainer, &ContainerEvidence::name);
  if (trainer != evidence.containers.end())
    std::rotate(evidence.containers.begin(), trainer, trainer + 1);
  for (const kube::ContainerStatus& container : status.init_containers)
    if (evidence.containers.size() < kContainersMax)
      evidence.containers.push_back(container_of(container, true));
}

// A report may be seconds old; the launcher's last words are not.
void add_last_words(PodEvidence& evidence, std::string_view pod_uid) {
  if (evidence.containers.empty() || !evidence.containers.front().ended) return;
  const std::string_view message = evidence.containers.front().ended->message;
  if (!message.starts_with('{') || message.size() > api::kTerminationMessageBytesMax) return;
  auto words = decode<api::Report>(message);
  if (!words) return;
  api::keep_last_of_each_name(*words);
  if (!validate(*words) || words->pod_uid != pod_uid) return;
  evidence.report.last_step = words->step;
  evidence.report.total_steps = words->total_steps;
  evidence.report.pause_asked = words->pause.state != api::ReportPauseState::kNone;
}

void add_condition(PodEvidence& evidence, const kube::PodCondition& condition) {
  using kube::ConditionStatus;
  using kube::PodConditionType;
  const bool holds = condition.status == ConditionStatus::kTrue;
  switch (condition.type) {
    case PodConditionType::kDisruptionTarget:
      if (!holds) return;
      evidence.disruption_reason = copy_of(condition.reason);
      evidence.disruption_message = copy_of(condition.message);
      evidence.disrupted_at = condition.changed;
      return;
    case PodConditionType::kScheduled:
      if (holds) {
        evidence.bound_at = condition.changed;
      } else {
        evidence.scheduled_reason = copy_of(condition.reason);
        evidence.scheduled_message = copy_of(condition.message);
      }
      return;
    case PodConditionType::kReady:
      if (condition.status == ConditionStatus::kFalse)
        evidence.unready_reason = copy_of(condition.reason);
      return;
    default:
      return;
  }
}

bool is_spot(const PackedMap& labels) {
  constexpr std::pair<std::string_view, std::string_view> kSpotLabels[] = {
      {"cloud.google.com/gke-spot", "true"},
      {"cloud.google.com/gke-preemptible", "true"},
      {"eks.amazonaws.com/capacityType", "SPOT"},
      {"karpenter.sh/capacity-type", "spot"},
      {"kubernetes.azure.com/scalesetpriority", "spot"}};
  return std::ranges::any_of(kSpotLabels,
                             [&](const auto& row) { return labels.find(row.first) == row.second; });
}

}  // namespace

std::string_view bounded_tail(std::string_view text) {
  return text.size() <= kEvidenceTextMax ? text : text.substr(text.size() - kEvidenceTextMax);
}

std::string_view bounded_head(std::string_view text) {
  return text.substr(0, kEvidenceTextMax);
}

void add_node(PodEvidence& evidence, const kube::Node& node) {
  evidence.node_spot = is_spot(node.metadata.labels);
  for (const kube::NodeCondition& condition : node.status.conditions) {
    // Of Ready, False and Unknown are the trouble; of every other condition, True is.
    const bool holds = condition.status == kube::ConditionStatus::kTrue;
    if (holds == (condition.type == "Ready")) continue;
    if (condition.type != "Ready" && condition.status == kube::ConditionStatus::kUnknown) continue;
    if (evidence.node_troubles.size() == kNodeConditionsMax) return;
    evidence.node_troubles.push_back({.type = copy_of(condition.type),
                                      .reason = copy_of(condition.reason),
                                      .message = copy_of(condition.message),
                                      .since = condition.changed});
  }
}

PodEvidence evidence_of(const kube::Pod& pod, const kube::Node* node) {
  PodEvidence evidence{.pod = pod.metadata.name.str(),
                       .node = pod.spec.node.str(),
                       .deleting = pod.metadata.deleted.has_value(),
                       .phase = pod.status.phase,
                       .reason = copy_of(pod.status.reason),
                       .message = copy_of(pod.status.message),
                       .bound = !pod.spec.node.empty()};
  if (const auto identity = api::pod_identity(pod.metadata.labels))
    evidence.rank = static_cast<std::int32_t>(identity->node_rank);
  for (const kube::PodCondition& condition : pod.status.conditions)
    add_condition(evidence, condition);
  add_containers(evidence, pod.status);
  add_last_words(evidence, pod.metadata.uid.str());
  if (node != nullptr) add_node(evidence, *node);
  return evidence;
}

}  // namespace amdahl::training
